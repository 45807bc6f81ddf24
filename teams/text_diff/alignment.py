"""This module aligns two sequences by their longest common subsequence, with bounded work.

The matrix of the longest common subsequence has a cell per pair of units. Sequences with too many pairs are split at
units that occur exactly once in both, and in the middle where there are none.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from config.http.cpu_budget import check_cpu

MAX_CELLS = 40_000_000
"""The maximum number of cells of one matrix. A cell is a bit, so a matrix takes 5 MB."""
MAX_LEVELS = 12
"""How often a sequence is split at unique units. Sequences for which this does not suffice are split in halves."""

MAX_LINES = 100_000
"""The maximum number of lines of both texts together.

Beyond it, only common beginnings and ends are found, and the lines in between count as one change.
"""

Box = tuple[int, int, int, int]
"""A range of both sequences: start and end in the old one, start and end in the new one."""


class Span(NamedTuple):
    """A range of both sequences, with exclusive ends; `same` says that the units of both are equal."""

    same: bool
    old_from: int
    old_to: int
    new_from: int
    new_to: int


def align(old: Sequence[Hashable], new: Sequence[Hashable], max_cells: int = MAX_CELLS) -> list[Span]:
    """Return both sequences from beginning to end as spans that are alternately equal and different."""
    numbers: dict[Hashable, int] = {}  # in place of hashes, by which two units might look equal that are not
    left = [numbers.setdefault(unit, len(numbers)) for unit in old]
    right = [numbers.setdefault(unit, len(numbers)) for unit in new]
    return list(_join_spans(_equal_stretches(left, right, max_cells), len(left), len(right)))


def align_lines(old: Sequence[str], new: Sequence[str]) -> list[Span]:
    """Return the spans of two lists of lines, as `align` does.

    Of very long texts, only common beginnings and ends are found.
    """
    if are_comparable(old, new):
        return align(old, new)
    ahead = _common_prefix(old, new, range(len(old)), range(len(new)))
    behind = _common_prefix(old, new, range(ahead, len(old))[::-1], range(ahead, len(new))[::-1])
    ends = [(0, 0, ahead), (len(old) - behind, len(new) - behind, behind)]
    return list(_join_spans((end for end in ends if end[2]), len(old), len(new)))


def are_comparable(old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether both lists of lines are short enough to be compared completely."""
    return len(old) + len(new) <= MAX_LINES


def _equal_stretches(left: list[int], right: list[int], max_cells: int) -> Iterator[tuple[int, int, int]]:
    """Yield the equal ranges in order: their starts on both sides, and their lengths."""
    pending = [(0, (0, len(left), 0, len(right)))]
    while pending:
        check_cpu()
        level, (old_from, old_to, new_from, new_to) = pending.pop()
        ahead = _common_prefix(left, right, range(old_from, old_to), range(new_from, new_to))
        if ahead:
            yield old_from, new_from, ahead
        old_from, new_from = old_from + ahead, new_from + ahead
        behind = _common_prefix(left, right, range(old_from, old_to)[::-1], range(new_from, new_to)[::-1])
        if behind:  # its turn comes after all that lies before it
            pending.append((level, (old_to - behind, old_to, new_to - behind, new_to)))
        old_to, new_to = old_to - behind, new_to - behind
        if (old_to - old_from) * (new_to - new_from) > max_cells:
            box = (old_from, old_to, new_from, new_to)
            pending.extend((level + 1, piece) for piece in reversed(_split_box(left, right, box, level < MAX_LEVELS)))
        elif old_from < old_to and new_from < new_to:
            yield from _subsequence(left[old_from:old_to], right[new_from:new_to], old_from, new_from)


def _common_prefix(left: Sequence[Hashable], right: Sequence[Hashable], here: range, there: range) -> int:
    """Return how many units are equal from the beginning of two ranges."""
    length = 0
    for one, other in zip(here, there, strict=False):
        if left[one] != right[other]:
            break
        length += 1
    return length


def _subsequence(left: list[int], right: list[int], old_from: int, new_from: int) -> Iterator[tuple[int, int, int]]:
    for code in LCSseq.opcodes(left, right):
        if code.tag == "equal":
            yield old_from + code.src_start, new_from + code.dest_start, code.src_end - code.src_start


def _split_box(left: list[int], right: list[int], box: Box, by_anchors: bool) -> list[Box]:
    """Return the box in parts: split at units that occur once on both sides, or in two halves."""
    old_from, old_to, new_from, new_to = box
    anchors = _anchors(left, right, box) if by_anchors else []
    anchors = anchors or [((old_from + old_to) // 2, (new_from + new_to) // 2)]
    corners = [(old_from, new_from), *anchors, (old_to, new_to)]
    return [(old, old_end, new, new_end) for (old, new), (old_end, new_end) in pairwise(corners)]


def _anchors(left: list[int], right: list[int], box: Box) -> list[tuple[int, int]]:
    """Return the positions of units that occur once on both sides, as many as are in the same order."""
    old_from, old_to, new_from, new_to = box
    once = _unique_units(left[old_from:old_to]) & _unique_units(right[new_from:new_to])
    places = {right[index]: index for index in range(new_from, new_to) if right[index] in once}
    pairs = [(index, places[left[index]]) for index in range(old_from, old_to) if left[index] in once]
    return _longest_rising(pairs)


def _unique_units(units: list[int]) -> set[int]:
    return {unit for unit, count in Counter(units).items() if count == 1}


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second numbers rise (patience sorting)."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [index]
    found: list[tuple[int, int]] = []
    last = ends[-1] if ends else -1
    while last >= 0:
        found.append(pairs[last])
        last = before[last]
    return found[::-1]


def _join_spans(equal: Iterable[tuple[int, int, int]], old_length: int, new_length: int) -> Iterator[Span]:
    """Yield the spans, with adjacent equal ranges joined and the ranges in between as changes."""
    old_at = new_at = 0  # up to where all was given
    since: Span | None = None
    for old_from, new_from, length in (*equal, (old_length, new_length, 0)):
        changed = old_from > old_at or new_from > new_at
        if since and changed:
            yield since
            since = None
        if changed:
            yield Span(False, old_at, old_from, new_at, new_from)
        if length:
            begins = since or Span(True, old_from, old_from, new_from, new_from)
            since = begins._replace(old_to=old_from + length, new_to=new_from + length)
        old_at, new_at = old_from + length, new_from + length
    if since:
        yield since
