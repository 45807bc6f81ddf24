"""This module formats the difference of two texts line by line, as the source view of a page."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from teams.text_diff.difference import DiffPart, DiffRun, TextDiff, split_lines

CONTEXT = 3
"""The number of unchanged lines that are shown before and after a change."""
MAX_RUN_CHARACTERS = 600
"""The maximum number of characters of an unchanged run in a line; the middle of a longer one is omitted."""
MAX_CHANGES = 500
MAX_ROWS = 500
"""The maximum number of rows that are shown of one change."""
MAX_RUNS = 10_000
"""The number of runs of all changes after which no further change is shown: 20,000 runs take two seconds to render."""
SHOWN_CHARACTERS = 200
"""The number of characters at both ends of such a run that are shown."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of the old text, the new text, or both, with its line numbers."""

    kind: Literal["same", "removed", "added"]
    old: int | None
    new: int | None
    runs: tuple[DiffRun, ...]


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """Lines that are shown together: a change (numbered from 1) or unchanged lines around it (number 0).

    `skipped` is the number of unchanged lines before it that are not shown, `cut` the number of lines of the change
    that are not.
    """

    number: int
    skipped: int
    rows: tuple[DiffRow, ...]
    cut: int = 0


def diff_hunks(difference: TextDiff) -> list[DiffHunk]:
    """Return the first MAX_CHANGES changes, of about MAX_RUNS runs, with a few lines around them."""
    parts, places, number, runs = difference.parts, list[DiffHunk](), 0, 0
    for index, part in enumerate(parts):
        if part.changed and (number == MAX_CHANGES or runs >= MAX_RUNS):
            break
        if part.changed:
            number += 1
            places.append(_changed_hunk(part, number))
            runs += sum(len(row.runs) for row in places[-1].rows)
        else:
            places.extend(_surroundings(part, is_first=index == 0, is_last=index == len(parts) - 1))
    return places


def _changed_hunk(part: DiffPart, number: int) -> DiffHunk:
    # Nothing but the first rows is shown: a change of half a million lines is not taken apart.
    beginning = replace(part, runs=tuple(_beginning(run) for run in part.runs))
    rows = tuple(islice(_changed_rows(beginning), MAX_ROWS + 1))
    if len(rows) <= MAX_ROWS:
        return DiffHunk(number, 0, rows)
    lines = sum(run.text.count("\n") for run in part.runs if run.changed)
    return DiffHunk(number, 0, rows[:MAX_ROWS], cut=max(lines - MAX_ROWS, 1))


def _beginning(run: DiffRun) -> DiffRun:
    """Return the run, or the first lines of a change that is longer than what is shown."""
    if not run.changed or run.text.count("\n") <= MAX_ROWS:
        return run
    return DiffRun(run.kind, "".join(split_lines(run.text)[: MAX_ROWS + 1]))


def _surroundings(part: DiffPart, *, is_first: bool, is_last: bool) -> Iterator[DiffHunk]:
    lines = split_lines(part.runs[0].text)
    ahead, behind = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
    skipped = max(len(lines) - ahead - behind, 0)
    if not is_first:
        yield DiffHunk(0, 0, _same_rows(part, lines, 0, len(lines) if skipped == 0 else ahead))
    if skipped or is_first:
        from_line = ahead + skipped
        yield DiffHunk(0, skipped, _same_rows(part, lines, from_line, len(lines)))


def _same_rows(part: DiffPart, lines: list[str], from_line: int, to_line: int) -> tuple[DiffRow, ...]:
    return tuple(
        DiffRow("same", part.old_line + index, part.new_line + index, _shorten_line((DiffRun("equal", lines[index]),)))
        for index in range(from_line, to_line)
    )


def _changed_rows(part: DiffPart) -> Iterator[DiffRow]:
    """Yield the lines of a change: removed lines, then the lines that replaced them, group by group."""
    old, new = part.old_line, part.new_line
    for removed, added in _groups(part.runs):
        if removed == added:
            yield DiffRow("same", old, new, _shorten_line(removed[0]))
        else:
            for index, runs in enumerate(removed):
                yield DiffRow("removed", old + index, None, _shorten_line(runs))
            for index, runs in enumerate(added):
                yield DiffRow("added", None, new + index, _shorten_line(runs))
        old, new = old + len(removed), new + len(added)


RunLine = tuple[DiffRun, ...]


def _groups(runs: tuple[DiffRun, ...]) -> Iterator[tuple[list[RunLine], list[RunLine]]]:
    """Yield removed lines with the lines that replaced them. An unchanged line ending ends a group."""
    sides: tuple[list[list[DiffRun]], list[list[DiffRun]]] = ([[]], [[]])
    for run in runs:
        for piece in split_lines(run.text):
            ends = piece.endswith("\n")
            for kind, side in (("added", sides[0]), ("removed", sides[1])):
                if run.kind != kind:
                    side[-1].append(DiffRun(run.kind, piece))
                    if ends:
                        side.append([])
            if ends and not run.changed:
                yield _whole_lines(sides[0]), _whole_lines(sides[1])
                sides = ([[]], [[]])
    if any(map(_whole_lines, sides)):
        yield _whole_lines(sides[0]), _whole_lines(sides[1])


def _whole_lines(side: list[list[DiffRun]]) -> list[RunLine]:
    return [tuple(line) for line in side if line]


def _shorten_line(runs: RunLine) -> RunLine:
    """Return the line without the middle of very long unchanged runs."""
    if all(run.changed or len(run.text) <= MAX_RUN_CHARACTERS for run in runs):
        return runs
    return tuple(
        run
        if run.changed or len(run.text) <= MAX_RUN_CHARACTERS
        else DiffRun(run.kind, f"{run.text[:SHOWN_CHARACTERS]} … {run.text[-SHOWN_CHARACTERS:]}")
        for run in runs
    )
