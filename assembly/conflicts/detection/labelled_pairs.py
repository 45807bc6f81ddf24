"""Labelled pairs are pairs of texts with a label that a person gave them, in files with one JSON object per line.

A line has left, right and label; it may have kind, the kind of the cue, writer, and left_date and right_date, the days
that the texts speak of, as YYYY-MM-DD.
"""

import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assembly.conflicts.detection.classifier import LABELS, Label


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts and how they are related, as a person sees it."""

    left: str
    right: str
    label: Label
    kind: str = ""
    writer: str = ""
    """This names who wrote the pair, where a file has pairs of several people."""
    left_date: datetime.date | None = None
    right_date: datetime.date | None = None


def load_pairs(path: Path) -> list[LabelledPair]:
    """Return the pairs of a file. Raises ValueError that names the file and the line that is wrong."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [_pair(line, f"Line {number} of {path.name}") for number, line in lines if line.strip()]


def _pair(line: str, place: str) -> LabelledPair:
    try:
        facts = json.loads(line)
        left, right, label = (str(facts[key]) for key in ("left", "right", "label"))
        days = [_date(facts, key) for key in ("left_date", "right_date")]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{place} is no JSON object with left, right and label ({error!r}).") from error
    known = next((known for known in LABELS if known == label), None)
    if known is None:
        raise ValueError(f"{place} has the label “{label}”. Use one of {', '.join(LABELS)}.")
    return LabelledPair(left, right, known, str(facts.get("kind", "")), str(facts.get("writer", "")), *days)


def _date(facts: dict[str, Any], key: str) -> datetime.date | None:
    return datetime.date.fromisoformat(facts[key]) if key in facts else None
