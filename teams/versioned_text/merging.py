"""This module merges two texts that were made from the same base, line by line.

A change of only one text is taken over. Where both texts changed the same lines differently, there is a conflict, which
a person resolves. The method is a three-way merge (Khanna, Kunal, Pierce: A Formal Investigation of Diff3, 2007) on the
longest common subsequences.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.http.cpu_budget import check_cpu
from teams.text_diff.alignment import align, are_comparable

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeChunk:
    """Lines of the merged text.

    In a conflict, `lines` are one text's and `theirs` the other's; elsewhere `theirs` is None.
    """

    lines: Lines
    theirs: Lines | None = None

    @property
    def has_conflict(self) -> bool:
        """Whether both texts changed these lines differently."""
        return self.theirs is not None


@dataclass(frozen=True, slots=True)
class _CommonLines:
    """Consecutive lines that all three texts share: where they begin in each text, and how many they are."""

    base: int
    mine: int
    theirs: int
    length: int


MARKERS = (
    re.compile(r"^<{7} .*^={7}$.*^>{7} ", re.MULTILINE | re.DOTALL),
    re.compile(r"^\[Here both texts changed\. Yours says:\]$.*^\[Keep what is right, ", re.MULTILINE | re.DOTALL),
)
"""The lines around unresolved conflicts: those of Git, and those that drafts of earlier versions of Dossier have."""


def has_conflict_markers(text: str) -> bool:
    """Return whether the text has lines that mark a conflict which nobody has resolved."""
    plain = text.replace("\r\n", "\n")
    return any(marker.search(plain) for marker in MARKERS)


class TooLongToMerge(Exception):
    """The texts have too many lines to be merged."""


def merge_texts(base: str, mine: str, theirs: str) -> tuple[MergeChunk, ...]:
    """Return the merged text of two texts that were made from `base`, as chunks of lines in order.

    Raises TooLongToMerge.
    """
    three = [tuple(text.split("\n")) for text in (base, mine, theirs)]
    if not (are_comparable(three[0], three[1]) and are_comparable(three[0], three[2])):
        raise TooLongToMerge
    pieces: list[MergeChunk] = []
    place = _CommonLines(0, 0, 0, 0)
    end = _CommonLines(len(three[0]), len(three[1]), len(three[2]), 0)
    for same in (*_shared_by_all(*three), end):
        check_cpu()
        between = (three[0][place.base : same.base], three[1][place.mine : same.mine])
        pieces += _merge_between(*between, three[2][place.theirs : same.theirs])
        pieces.append(MergeChunk(three[0][same.base : same.base + same.length]))
        place = _CommonLines(same.base + same.length, same.mine + same.length, same.theirs + same.length, 0)
    return tuple(piece for piece in pieces if piece.lines or piece.theirs)


def join_chunks(chunks: Sequence[MergeChunk], chosen: Sequence[Lines]) -> str:
    """Return the merged text, with the chosen lines in place of each conflict, in order."""
    remaining = iter(chosen)
    lines: list[str] = []
    for chunk in chunks:
        lines += next(remaining) if chunk.has_conflict else chunk.lines
    return "\n".join(lines)


def _merge_between(base: Lines, mine: Lines, theirs: Lines) -> Iterator[MergeChunk]:
    """Yield the chunks between two places that all three texts share."""
    if theirs in {base, mine}:
        yield MergeChunk(mine)
    elif base == mine:
        yield MergeChunk(theirs)
    else:
        yield from _trim_overlap(mine, theirs)


def _trim_overlap(mine: Lines, theirs: Lines) -> Iterator[MergeChunk]:
    """Yield the chunks of lines that both texts changed; common lines at their beginning and end are no conflict."""
    first = _common_prefix_length(mine, theirs)
    last = _common_prefix_length(mine[first:][::-1], theirs[first:][::-1])
    yield MergeChunk(mine[:first])
    yield MergeChunk(mine[first : len(mine) - last], theirs[first : len(theirs) - last])
    yield MergeChunk(mine[len(mine) - last :])


def _common_prefix_length(one: Lines, other: Lines) -> int:
    """Return how many lines at the beginning of both texts are equal."""
    return next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(map(len, (one, other)))
    )


def _shared_by_all(base: Lines, mine: Lines, theirs: Lines) -> Iterator[_CommonLines]:
    """Yield the ranges of the base that neither text changed."""
    ours, others = _unchanged_lines(base, mine), _unchanged_lines(base, theirs)
    one = other = 0
    while one < len(ours) and other < len(others):
        start, end = max(ours[one].base, others[other].base), min(_end(ours[one]), _end(others[other]))
        if start < end:
            shift = start - ours[one].base, start - others[other].base
            yield _CommonLines(start, ours[one].mine + shift[0], others[other].mine + shift[1], end - start)
        if _end(ours[one]) <= _end(others[other]):
            one += 1
        else:
            other += 1


def _end(same: _CommonLines) -> int:
    return same.base + same.length


def _unchanged_lines(base: Lines, changed: Lines) -> list[_CommonLines]:
    """Return the ranges of the base that also occur in the changed text; their `mine` is the position there."""
    return [
        _CommonLines(span.old_from, span.new_from, 0, span.old_to - span.old_from)
        for span in align(base, changed)
        if span.same
    ]
