"""Levels of detail over the long messages of conversations: what fits into 4,000 tokens at adaptive levels, and whole.

DATA=folder has conversations with questions whose evidence is known, in files as for `evidence_recall`; TEST=b5,b6
names some of them. The derivation was tuned on the chats 1 to 4 of the data set BEAM, so other chats are the honest
test. Every question is asked of an agent that has one memory per message: with `lod: adaptive`, and with `lod: atomic`,
where every message is whole. The profile is `memory` without its limits per scope, with memories alone. The search
finds 100 of them, more than fit, so that the room decides. `few_whole` is whole texts of which 20 are found: they gain
if what is less relevant cannot compete.

`items_ratio` is the number of messages with evidence that are in the contexts with adaptive levels, each counted once
per context, divided by that with whole texts; `items_ratio_few`, by that of `few_whole`. `recall_<way>` is the mean
share of a question's evidence that is in its context, at any level. What survives the shortening is another matter:
`answer_words_<way>` is the mean share of the answer's words (numbers, words with a capital, and words of five letters
and more; only those that stand in the evidence) which stand in the evidence as told. `items_<way>` is the mean number
of messages in a context, `macro_share` and `micro_share` are the shares of these levels in the adaptive contexts, and
`derivation_ms` is the mean CPU time in which the levels of a message are derived.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import django

from tests.benchmarks.figures import DataMissing, figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    import datetime

    from agents.models import Agent
    from assembly.engine.profile import Profile

NAME = "levels"
BUDGET = 4_000
Way = Literal["adaptive", "whole", "few_whole"]
WAYS: Mapping[Way, tuple[Literal["adaptive", "atomic"], int]] = {
    "adaptive": ("adaptive", 100),
    "whole": ("atomic", 100),
    "few_whole": ("atomic", 20),
}
"""The level of each way, and how many messages the search finds for it."""
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d[\d.,:/%]*\d|\d")
_MIN_LETTERS = 5


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the memories that contain its answer, and the answer's words that stand in these."""

    text: str
    evidence: frozenset[UUID]
    words: frozenset[str]


@dataclass(slots=True)
class Figures:
    """What the contexts of one way contained, by question."""

    recall: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    evidence: int = 0
    """Messages with evidence in all contexts, each once per context."""
    levels: Counter[str] = field(default_factory=Counter)


def run() -> None:
    """Print what adaptive levels tell compared with whole texts. Raises DataMissing without conversations."""
    files = _files()
    if not files:
        raise DataMissing("levels: DATA=folder with conversations is needed.")
    manage("migrate", "--verbosity", "0")
    django.setup()
    found: dict[Way, Figures] = {way: Figures() for way in WAYS}
    seconds: list[float] = []
    for file in files:
        seconds += _ask_about(file, found)
    _report(found, seconds)


def _files() -> list[Path]:
    data = os.environ.get("DATA")
    files = sorted([*Path(data).glob("*.json"), *Path(data).glob("*/*.json")]) if data else []
    names = [name.strip() for name in os.environ.get("TEST", "").split(",") if name.strip()]
    return [file for file in files if not names or file.stem in names]


def _ask_about(file: Path, found: Mapping[Way, Figures]) -> list[float]:
    """Add the figures of the questions about one conversation; return the CPU seconds that each derivation took."""
    from django.db import transaction

    from agents.models import Agent
    from assembly.engine.detail_levels import derive_levels
    from assembly.engine.tokenizers import DEFAULT_TOKENIZER, get_tokenizer
    from memories.imports.conversation import conversation_import, load_conversation
    from memories.models import Memory
    from teams.principal import SYSTEM

    sessions, slug = load_conversation(file), f"levels-{file.stem}"
    seconds = []
    with transaction.atomic():
        conversation_import(sessions=sessions, agent=slug, principal=SYSTEM, advance=lambda _: None)
        agent = Agent.objects.get(slug=slug)
        texts = {}
        for memory in Memory.objects.filter(agent=agent):
            texts[memory.external_id.split(":", 1)[1].rpartition(":")[0]] = (memory.id, memory.text)
            begun = process_time()
            derive_levels(memory.text, get_tokenizer(DEFAULT_TOKENIZER))
            seconds.append(process_time() - begun)
        now = max(session.at for session in sessions)
        for question in _questions(file, texts):
            for way in WAYS:
                _ask(agent, question, way, found[way], now)
        transaction.set_rollback(True)
    return seconds


def _questions(file: Path, texts: Mapping[str, tuple[UUID, str]]) -> Iterator[Question]:
    for entry in json.loads(file.read_text(encoding="utf-8")).get("qa", ()):
        turns = [texts[turn] for turn in entry.get("evidence", ()) if turn in texts]
        if turns:
            evidence = " ".join(text for _, text in turns).casefold()
            words = {word for word in _key_words(str(entry.get("answer", ""))) if word in evidence}
            yield Question(str(entry["question"]), frozenset(id_ for id_, _ in turns), frozenset(words))


def _key_words(text: str) -> Iterator[str]:
    """Yield the numbers, the words with a capital and those with five letters or more, in lower case."""
    for word in _WORD.findall(text):
        if word[0].isdigit() or word[0].isupper() or len(word) >= _MIN_LETTERS:
            yield word.casefold().removesuffix("'s").strip(".,:")


def _profile(way: Way) -> "Profile":
    from assembly.profiles.catalogue import find_profile

    memory = find_profile("memory")
    own = (section for section in memory.sections if section.source == "agent_memories")
    level, most = WAYS[way]
    sections = tuple(replace(section, top_k=most) for section in own)
    return replace(memory, lod=level, scope_limits={}, sections=sections)


def _ask(agent: "Agent", question: Question, way: Way, figures: Figures, now: "datetime.datetime") -> None:
    from assembly.engine.refs import Ref
    from assembly.pipeline.prepare import gather_candidates, prepare
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.summaries.resolve import assemble_with_summaries
    from assembly.sources.time_budget import TimeBudget

    asked = AssemblyRequest(topic=question.text, profile="memory", max_tokens=BUDGET, now=now)
    time = TimeBudget.starting_now()
    prepared = replace(prepare(agent, None, asked, now), profile=_profile(way))
    ruled, candidates = prepared.with_gathered(gather_candidates(prepared, time))
    result = assemble_with_summaries(ruled.request, ruled.profile, candidates, ruled.tokenizer, time).assembled
    told = {}
    for decision in result.decisions:
        if decision.included:
            told[UUID(str(Ref.parse(decision.ref).id))] = result.content[decision.start : decision.end]
            figures.levels[decision.detail.get("lod", "atomic")] += 1
    found = question.evidence & told.keys()
    figures.items.append(len(told))
    figures.evidence += len(found)
    figures.recall.append(len(found) / len(question.evidence))
    if question.words:
        said = " ".join(told[id_] for id_ in sorted(found)).casefold()
        figures.words.append(sum(word in said for word in question.words) / len(question.words))


def _report(found: Mapping[Way, Figures], seconds: Sequence[float]) -> None:
    adaptive = found["adaptive"]
    for name, whole in {"items_ratio": found["whole"], "items_ratio_few": found["few_whole"]}.items():
        figure(NAME, name, adaptive.evidence / max(1, whole.evidence), "ratio", len(whole.recall))
    for way, figures in found.items():
        figure(NAME, f"recall_{way}", fmean(figures.recall), "share", len(figures.recall))
        figure(NAME, f"answer_words_{way}", fmean(figures.words), "share", len(figures.words))
        figure(NAME, f"items_{way}", fmean(figures.items), "messages", len(figures.items))
    total = adaptive.levels.total()
    for level in ("macro", "micro"):
        figure(NAME, f"{level}_share", adaptive.levels[level] / total, "share", total)
    figure(NAME, "derivation_ms", 1000 * fmean(seconds), "ms", len(seconds))
