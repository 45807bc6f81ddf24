"""Small edits of a text on its way into a context, and where a place in the edited text stood before.

An edit never changes a line that opens or closes fenced code, so the edited text has the fences of the original one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from assembly.engine.fences import Fence


class Edit(NamedTuple):
    """A replacement of the characters from start to end, counted in the original text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A text as a context shows it."""

    text: str = field(repr=False)
    fences: Sequence[Fence] = ()
    """Its fenced code, in order, counted in the edited text."""
    edits: Sequence[Edit] = ()
    """In order, none reaching into another."""

    @classmethod
    def of(cls, original: str, fences: Sequence[Fence], edits: Iterable[Edit]) -> "Edited":
        """The original text with these edits, in any order; of two in one place, one is made."""
        made: list[Edit] = []
        for edit in sorted(edits):
            if not made or (edit.start >= made[-1].end and edit[:2] != made[-1][:2]):
                made.append(edit)
        if not made:
            return cls(original, fences)
        pieces, at = [], 0
        for edit in made:
            pieces += [original[at : edit.start], edit.text]
            at = edit.end
        pieces.append(original[at:])
        return cls("".join(pieces), list(_moved(fences, made)), made)

    def original_length(self, length: int) -> int:
        """How many characters of the original text the first `length` characters of the edited one show."""
        grown = 0
        for edit in self.edits:
            if edit.start + grown >= length:
                break
            if edit.start + grown + len(edit.text) > length:
                return edit.start
            grown += len(edit.text) - (edit.end - edit.start)
        return length - grown

    def open_at(self, length: int) -> Fence | None:
        """The fenced code that the first `length` characters leave open, None where they end outside of any."""
        place = bisect_right(self.fences, length, key=lambda fence: fence.opened) - 1
        return self.fences[place] if place >= 0 and length <= self.fences[place].end else None


def _moved(fences: Iterable[Fence], edits: Sequence[Edit]) -> Iterator[Fence]:
    """The fences in the edited text."""
    ends = [edit.end for edit in edits]
    grown = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits)]
    for fence in fences:
        before, within = (grown[bisect_right(ends, place)] for place in (fence.start, fence.end))
        yield fence.moved(before, within)
