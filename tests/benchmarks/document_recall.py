"""Whether the source of documents offers the right passages, by each ranker that a profile can name.

The documents are those of `text_kinds`: modules of code, manuals, a reference, licences. They are stored by the service
and split by the splitter, and each question is put to the source that contexts are made of. What it ought to find are
the chunks of which at least half stands in the passage that the question was made of.

`<kind>_<ranker>_r_at_20` and `…_r_at_2000_tokens` are the mean share of these chunks, 0 to 1, that is offered at all,
or fits into so many tokens by the score of the source. `chunks` is how many there are in a file. KINDS=code,manuals
asks about these kinds alone. `all_in_one` is one agent with all of these documents. The shipped ranker was trained on
none of them.
"""

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.text_kinds import write_kinds

if TYPE_CHECKING:
    from agents.models import Agent
    from assembly.engine.profile import Section

NAME = "document_recall"
TOGETHER = "all_in_one"
ENDINGS = {"code": "", "manuals": ".md"}
"""The paths of documents of these kinds end so, others in .txt: it decides how they are split."""
PRINTED = ("r_at_20", "r_at_2000_tokens")
BETWEEN = "\n\n"
UNSEEN = ("protocols", "manuals-2", "reference-2", "licences-1")
"""The files that the shipped ranker was not trained on."""

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the chunks that it ought to find, by their refs."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Passage:
    """The place of a passage in a document, in characters."""

    path: str
    start: int
    end: int


def run() -> None:
    """Print the recall of each kind by each ranker, and the mean of the kinds."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    wanted = {name for name in os.environ.get("KINDS", "").split(",") if name}
    kinds: dict[str, list[Figures]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in write_kinds(Path(folder)) if file.stem in UNSEEN]
        for file in files:
            kind = file.parent.name
            if not wanted or kind in wanted:
                for ranker, figures in _figures_of([file], kind).items():
                    kinds[ranker].append(_print(f"{kind}_{ranker}", figures))
        for ranker, means in kinds.items():
            _print(f"all_{ranker}", means)
        if not wanted:
            for ranker, figures in _figures_of(files, TOGETHER).items():
                _print(f"{TOGETHER}_{ranker}", figures)


def _print(name: str, figures: Sequence[Figures]) -> Figures:
    """Print and return the mean of the figures."""
    mean = {printed: fmean(one[printed] for one in figures) for printed in PRINTED}
    for printed, value in mean.items():
        figure(NAME, f"{name}_{printed}", value, "share", len(figures))
    return mean


def _figures_of(files: Sequence[Path], kind: str) -> dict[str, list[Figures]]:
    """Return by ranker the figures of each question about the documents of the files."""
    with _stored(files) as (agent, questions, chunks):
        figure(NAME, f"{kind}_chunks", chunks, "rows", len(questions))
        return {
            ranker: [_recall(agent, question, section) for question in questions]
            for ranker, section in _sections().items()
        }


def _sections() -> "dict[str, Section]":
    from assembly.engine.profile import Section
    from assembly.profiles.rankers import RANKERS

    plain = Section("semantic_content", "Relevant Content", "L6", "semantic_content", "blocks")
    return {"seed": plain, **{name: replace(plain, ranker=ranker) for name, ranker in RANKERS.items()}}


@contextmanager
def _stored(files: Sequence[Path]) -> "Iterator[tuple[Agent, list[Question], int]]":
    """Yield an agent that has the documents of these files while the block runs, the questions, and how many chunks."""
    from django.db import connection, transaction

    from agents.services import agent_create
    from memories.embeddings.indexing import document_split
    from memories.models import Chunk
    from memories.services.document import documents_create
    from teams.principal import SYSTEM

    with transaction.atomic():
        agent = agent_create(slug="reader", name="Reader")
        questions: list[tuple[str, list[Passage]]] = []
        for file in files:
            facts, found = _documents(file)
            for document in documents_create(agent=agent, facts=facts, principal=SYSTEM):
                document_split(id_=document.id)
            questions += found
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE chunks")
        chunks = list(Chunk.objects.filter(agent=agent).select_related("document").defer("search"))
        yield agent, _with_evidence(questions, chunks), len(chunks)
        transaction.set_rollback(True)


def _documents(file: Path) -> tuple[list[dict[str, Any]], list[tuple[str, list[Passage]]]]:
    """Return the documents of the file, and its questions with the passages that answer them."""
    data, kind = json.loads(file.read_text(encoding="utf-8")), file.parent.name
    facts, places = [], {}
    for name, turns in data.items():
        if isinstance(turns, list) and name != "qa":
            title = turns[0]["speaker"] if kind == "code" else name
            path, content = f"{file.stem}/{title}{ENDINGS.get(kind, '.txt')}", ""
            for turn in turns:
                places[turn["dia_id"]] = Passage(path, len(content), len(content) + len(turn["text"]))
                content += turn["text"] + BETWEEN
            facts.append({"path": path, "content": content})
    return facts, [(one["question"], [places[turn] for turn in one["evidence"]]) for one in data["qa"]]


def _with_evidence(questions: Sequence[tuple[str, Sequence[Passage]]], chunks: Sequence[Any]) -> list[Question]:
    by_path: dict[str, list[Any]] = defaultdict(list)
    for chunk in chunks:
        by_path[chunk.document.path].append(chunk)
    found = []
    for text, passages in questions:
        evidence = {
            chunk.ref
            for passage in passages
            for chunk in by_path[passage.path]
            if 2 * (min(chunk.end, passage.end) - max(chunk.start, passage.start)) >= chunk.end - chunk.start
        }
        if evidence:
            found.append(Question(text, frozenset(evidence)))
    return found


def _recall(agent: "Agent", question: Question, section: "Section") -> Figures:
    from django.utils import timezone

    from assembly.engine.query_signals import parse_signals
    from assembly.engine.rendering import render_item
    from assembly.engine.tokenizers import get_tokenizer
    from assembly.profiles.training.recall import recall
    from assembly.sources.base import GatherContext
    from assembly.sources.documents import semantic_content
    from memories.search.memory_search import topic_vector

    situation = GatherContext(
        agent=agent,
        team=None,
        now=timezone.now(),
        vector=topic_vector(question.text),
        topic=question.text,
        signals=parse_signals(question.text),
    )
    found = semantic_content(situation, [section]).candidates
    best = sorted(found, key=lambda candidate: -(candidate.score or 0.0))
    count = get_tokenizer("cl100k_base").count
    tokens = [count(f"{render_item(section, candidate).text}\n\n") for candidate in best]
    order = {candidate.ref: place for place, candidate in enumerate(best)}
    # What was not offered stands at places that nothing reaches.
    evidence = [order.get(ref, len(best) + missing) for missing, ref in enumerate(sorted(question.evidence))]
    return recall(range(len(best)), evidence, tokens)
