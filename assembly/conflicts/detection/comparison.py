# ruff: noqa: ARG001, PLR2004 - a placeholder
"""A plain comparison of two texts, which only knows numbers and “not”; the classifier of typed cues replaces it."""

import re
from dataclasses import dataclass
from datetime import date

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WORD = re.compile(r"[^\W\d_]+")
_NEGATIONS = {"not", "no", "never"}


@dataclass(frozen=True)
class Comparison:
    """How two texts relate: its `label`, what differs (`kind`), and how sure that is; numbers are 0 to 1."""

    label: str
    kind: str
    subject: float
    severity: float
    cue: str
    probability: float
    left_statement: str
    right_statement: str


def compare_texts(
    left: str, right: str, *, similarity: float, left_date: date | None = None, right_date: date | None = None
) -> Comparison:
    """Return how the texts relate. Texts with the same words conflict if their numbers, or a “not”, differ."""
    words = [set(_WORD.findall(text.lower())) for text in (left, right)]
    numbers = [_NUMBER.findall(text) for text in (left, right)]
    shared = len((words[0] & words[1]) - _NEGATIONS) / max(1, len((words[0] | words[1]) - _NEGATIONS))
    if shared >= 0.6 and numbers[0] != numbers[1]:
        return Comparison("conflict", "number", shared, 0.8 * shared, "The numbers differ.", 0.9, left, right)
    if shared >= 0.6 and bool(words[0] & _NEGATIONS) != bool(words[1] & _NEGATIONS):
        return Comparison("conflict", "negation", shared, 0.9 * shared, "One side denies it.", 0.9, left, right)
    if similarity >= 0.9 and shared >= 0.6:
        return Comparison("duplicate", "duplicate", shared, 0.0, "Both say the same.", 0.9, left, right)
    return Comparison("unrelated", "", shared, 0.0, "", 0.0, left, right)
