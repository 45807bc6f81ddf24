"""Texts with and without keys and passwords, by two writers who did not know the recogniser.

In `labelled_texts.jsonl` the texts and their secrets are written backwards, so that scanners of repositories do not
take the invented keys for real ones.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from teams.secret_scanning.recognition import find_secrets

ALIKE = 0.8
"""A found secret counts if it lies within the labelled one, or around it, and has this share of its characters."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    writer: str
    text: str
    secrets: tuple[str, ...]


@dataclass(slots=True)
class Figures:
    """What was found in texts: right and wrong findings, and missed secrets."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)


def labelled_texts() -> list[LabelledText]:
    lines = Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return [
        LabelledText(row["writer"], row["txet"][::-1], tuple(secret[::-1] for secret in row["sterces"]))
        for row in map(json.loads, lines)
    ]


def figures_of(texts: Iterable[LabelledText]) -> Figures:
    figures = Figures()
    for one in texts:
        missed = list(one.secrets)
        for found in find_secrets(one.text):
            value = one.text[found.start : found.end]
            label = next((label for label in missed if _alike(value, label)), None)
            if label is None:
                figures.wrong += 1
            else:
                figures.right += 1
                missed.remove(label)
        figures.missed += len(missed)
    return figures


def _alike(value: str, label: str) -> bool:
    shorter, longer = sorted((value, label), key=len)
    return shorter in longer and len(shorter) >= ALIKE * len(longer)
