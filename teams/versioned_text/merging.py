"""Three texts into one: what two people made of the same text is brought together, line by line.

A change that one of them made is taken over. Where both changed the same place and not in the same way, both texts are
kept, one after the other, for a person to decide. The three-way merge of lines (Khanna, Kunal, Pierce: A Formal
Investigation of Diff3, 2007) on the longest common subsequences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.http.cpu_budget import check_cpu
from teams.text_diff.alignment import align, are_comparable

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeChunk:
    """Lines of the merged text. Where both changed the same place, `theirs` are the others; elsewhere it is None."""

    lines: Lines
    theirs: Lines | None = None

    @property
    def has_conflict(self) -> bool:
        """Whether somebody has to decide."""
        return self.theirs is not None


@dataclass(frozen=True, slots=True)
class ConflictMarkers:
    """The lines around the two texts where both changed the same place, in plain words."""

    yours: str
    theirs: str
    end: str


@dataclass(frozen=True, slots=True)
class _CommonLines:
    """As many lines that all three texts share, and where they begin in each."""

    base: int
    mine: int
    theirs: int
    length: int


class TooLongToMerge(Exception):
    """The texts have too many lines to be brought together; both are to be shown side by side."""


def merge_texts(base: str, mine: str, theirs: str) -> tuple[MergeChunk, ...]:
    """The two texts that were made from the base, as one: their lines in order. Joined by line breaks they are it.

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


def format_merged(pieces: Sequence[MergeChunk], marks: ConflictMarkers) -> str:
    """The merged text, with marks around what is to be decided."""
    lines: list[str] = []
    for piece in pieces:
        lines += piece.lines if piece.theirs is None else _with_markers(piece.lines, piece.theirs, marks)
    return "\n".join(lines)


def _with_markers(yours: Lines, theirs: Lines, marks: ConflictMarkers) -> Lines:
    return (marks.yours, *yours, marks.theirs, *theirs, marks.end)


def _merge_between(base: Lines, mine: Lines, theirs: Lines) -> Iterator[MergeChunk]:
    """What stands between two places that all three share."""
    if theirs in {base, mine}:
        yield MergeChunk(mine)
    elif base == mine:
        yield MergeChunk(theirs)
    else:
        yield from _trim_overlap(mine, theirs)


def _trim_overlap(mine: Lines, theirs: Lines) -> Iterator[MergeChunk]:
    """Both changed it: what they begin and end with alike is decided."""
    first = _common_prefix_length(mine, theirs)
    last = _common_prefix_length(mine[first:][::-1], theirs[first:][::-1])
    yield MergeChunk(mine[:first])
    yield MergeChunk(mine[first : len(mine) - last], theirs[first : len(theirs) - last])
    yield MergeChunk(mine[len(mine) - last :])


def _common_prefix_length(one: Lines, other: Lines) -> int:
    """How many lines both begin with."""
    return next(
        (n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(map(len, (one, other)))
    )


def _shared_by_all(base: Lines, mine: Lines, theirs: Lines) -> Iterator[_CommonLines]:
    """The stretches of the base that both left alone."""
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
    """The stretches of the base that stand in the changed text, too; `mine` is where."""
    return [
        _CommonLines(span.old_from, span.new_from, 0, span.old_to - span.old_from)
        for span in align(base, changed)
        if span.same
    ]
