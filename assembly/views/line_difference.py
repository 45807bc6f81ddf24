"""Two texts as one, line by line: what stays, what goes and what comes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["same", "gone", "new", "between"]
"""between: lines that stay the same, far from what changes."""
NEAR = 3
"""Lines that are shown before and after a change."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines with the same fate."""

    kind: Kind
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def line_difference(old: str, new: str) -> list[Stretch]:
    """The stretches of both texts in order; nothing where both are equal."""
    before, after = old.split("\n"), new.split("\n")
    if before == after:
        return []
    # Contexts differ in a few sections: what both begin and end with need not be matched.
    first = _alike(before, after)
    last = _alike(before[first:][::-1], after[first:][::-1])
    inner = before[first : len(before) - last], after[first : len(after) - last]
    found = [
        *_same(before[:first], begins=True, ends=False),
        *_stretches(*inner),
        *_same(before[len(before) - last :], begins=False, ends=True),
    ]
    return [stretch for stretch in found if stretch.lines]


def _alike(some: Sequence[str], others: Sequence[str]) -> int:
    """With how many equal lines both begin."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(some), len(others)))


def _stretches(before: Sequence[str], after: Sequence[str]) -> list[Stretch]:
    found: list[Stretch] = []
    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "equal":
            found += _same(before[old_start:old_end], begins=False, ends=False)
        else:
            found.append(Stretch("gone", tuple(before[old_start:old_end])))
            found.append(Stretch("new", tuple(after[new_start:new_end])))
    return found


def _same(lines: Sequence[str], *, begins: bool, ends: bool) -> Iterator[Stretch]:
    """Lines that stay: those near a change are shown, where the text begins or ends there is none."""
    head, tail = 0 if begins else NEAR, 0 if ends else NEAR
    if len(lines) <= head + tail + 1:
        yield Stretch("same", tuple(lines))
        return
    yield Stretch("same", tuple(lines[:head]))
    yield Stretch("between", tuple(lines[head : len(lines) - tail]))
    yield Stretch("same", tuple(lines[len(lines) - tail :]))
