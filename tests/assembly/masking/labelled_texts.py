"""Texts with labelled personal data, by four writers who did not know the recogniser, and how much of it is found.

`labelled_texts.jsonl` has 815 texts, 325 of them with none but with much that resembles it. The patterns were written
with the texts of `first`, then tuned with those of the others, each of which was unseen before: recall and precision
were then as docs/privacy.md says. None is unseen any more.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assembly.masking.placeholders import NAMES
from assembly.masking.recognition import find_personal_data
from assembly.masking.spans import Kind, Span

FILE = Path(__file__).with_suffix(".jsonl")
LEAST_OVERLAP = 0.7
"""Writers differ on whether an extension or a suffix belongs to a number: a span is found if this share is equal."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, who wrote it, and where its personal data stands."""

    writer: str
    text: str
    spans: tuple[Span, ...]


@cache
def labelled_texts() -> tuple[LabelledText, ...]:
    """Return all texts of the file."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return tuple(LabelledText(row["writer"], row["text"], tuple(_spans(row))) for row in rows)


def _spans(row: Mapping[str, object]) -> Iterable[Span]:
    text, spans = str(row["text"]), row["spans"]
    assert isinstance(spans, list)
    for span in spans:
        start = text.index(span["value"])
        yield Span(span["kind"], start, start + len(span["value"]))


@dataclass(frozen=True, slots=True)
class KindFigures:
    """The recall and the precision of a kind of personal data, 0 to 1, and how many labels there are."""

    recall: float
    precision: float
    labels: int


def figures_of(texts: Iterable[LabelledText]) -> dict[Kind, KindFigures]:
    """Return how much of the personal data is found, and how much of what is found is any, by kind."""
    labels, met, found, right = Counter[Kind](), Counter[Kind](), Counter[Kind](), Counter[Kind]()
    for one in texts:
        spans = find_personal_data(one.text)
        for label in one.spans:
            labels[label.kind] += 1
            met[label.kind] += any(_is_same(label, span) for span in spans)
        for span in spans:
            found[span.kind] += 1
            right[span.kind] += any(_is_same(label, span) for label in one.spans)
    return {
        kind: KindFigures(met[kind] / max(1, labels[kind]), right[kind] / max(1, found[kind]), labels[kind])
        for kind in NAMES
    }


def _is_same(one: Span, other: Span) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return one.kind == other.kind and common >= LEAST_OVERLAP * max(one.end - one.start, other.end - other.start)
