"""What a budget holds of long memories: told whole, or by the passage that bears on the topic.

The memories are pages of 3,000 characters, made of read-me files and the language reference that are installed here;
each question belongs to one section of one page. A section of the context takes the five pages nearest in meaning, as
most shipped profiles do.

`pages_<way>_told_<cap>` is the share of questions of which at least half of the section that answers stands in the
context, for a section of so many tokens: `whole` without the step `compact`, `passages` with it.
`pages_<way>_items_<cap>` is how many memories are told.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.figures import figure
from tests.benchmarks.text_kinds import write_kinds

NAME = "passages"
PAGE_CHARACTERS = 3_000
CAPS = (500, 1_000, 1_500, 2_500)
WAYS = {"whole": ("drop", "summarise"), "passages": ("drop", "compact", "summarise")}
KINDS = ("manuals", "reference")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the page that answers it, and the text of the section that does."""

    text: str
    page: int
    section: str


def run() -> None:
    """Print which share of the questions is answered by what is told, for each cap and way."""
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in write_kinds(Path(folder)) if file.parent.name in KINDS]
        kept = [_pages(json.loads(file.read_text(encoding="utf-8"))) for file in files]
    for cap in CAPS:
        for way, steps in WAYS.items():
            told = [one for pages, questions in kept for one in _told(pages, questions, cap, steps)]
            figure(NAME, f"pages_{way}_told_{cap}", fmean(is_told for is_told, _ in told), "share", len(told))
            figure(NAME, f"pages_{way}_items_{cap}", fmean(items for _, items in told), "memories", len(told))


def _pages(conversation: dict[str, list[dict[str, str]]]) -> tuple[list[str], list[Question]]:
    """Return the passages of each document joined to pages, and the questions about them."""
    asked = {entry["evidence"][0]: entry["question"] for entry in conversation["qa"]}
    pages: list[str] = []
    questions: list[Question] = []
    for name, turns in conversation.items():
        if not name.startswith("session_") or isinstance(turns, str):
            continue
        pages.append("")
        for turn in turns:
            if pages[-1] and len(pages[-1]) + len(turn["text"]) > PAGE_CHARACTERS:
                pages.append("")
            pages[-1] += ("\n\n" if pages[-1] else "") + turn["text"]
            if turn["dia_id"] in asked:
                questions.append(Question(asked[turn["dia_id"]], len(pages) - 1, turn["text"]))
    return pages, questions


def _told(
    pages: Sequence[str], questions: Sequence[Question], cap: int, steps: Sequence[str]
) -> Iterator[tuple[bool, int]]:
    """Yield for each question whether what answers it is told, and how many memories are."""
    import datetime

    from assembly.engine.assemble import assemble
    from assembly.engine.profile import Profile, Section
    from assembly.engine.tokenizers import get_tokenizer
    from assembly.engine.types import Candidate, EngineRequest
    from memories.embeddings.wordllama import embed

    tokenizer = get_tokenizer("cl100k_base")
    section = Section("m", "Memories", "L5", "agent_memories", "lines", cap=cap, top_k=5)
    profile = Profile("p", 1, (section,), over_budget=tuple(steps))  # type: ignore[arg-type]
    vectors = np.array([_vector(one) for one in embed(list(pages))])
    now = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
    for question in questions:
        similarities = vectors @ _vector(embed([question.text])[0])
        nearest = np.argsort(-similarities)[:20].tolist()
        candidates = [Candidate(str(place), "m", pages[place], similarity=similarities[place]) for place in nearest]
        request = EngineRequest(cap, question.text, "cl100k_base", now)
        made = assemble(request, profile, candidates, tokenizer)
        included = [decision for decision in made.decisions if decision.included]
        yield _stands(question, made.content), len(included)


def _stands(question: Question, content: str) -> bool:
    """Return whether at least half of the lines of the section stand in the context, by their characters."""
    lines = [" ".join(line.split()) for line in question.section.splitlines() if line.strip()]
    shown = " ".join(content.replace("\\", "").split())
    words = [(line, len(line)) for line in (piece for line in lines for piece in _pieces(line.replace("\\", "")))]
    told = sum(length for piece, length in words if piece in shown)
    return 2 * told >= sum(length for _, length in words)


def _pieces(line: str) -> list[str]:
    """Return the line in pieces of eight words."""
    words = line.split()
    return [" ".join(words[place : place + 8]) for place in range(0, len(words), 8)]


def _vector(found: NDArray[np.float32] | None) -> NDArray[np.float32]:
    return np.zeros(256, dtype=np.float32) if found is None else found
