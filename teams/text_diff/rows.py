"""The difference of two texts line by line, as they were written: what a page shows as its source."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from teams.text_diff.difference import DiffPart, DiffRun, TextDiff, split_lines

CONTEXT = 3
"""Lines that are shown before and after a change."""
MAX_RUN_CHARACTERS = 600
"""Characters of an unchanged run in one line, beyond which its middle is left out."""
MAX_CHANGES = 500
MAX_ROWS = 500
"""Of one change: what is longer was rewritten, and its first lines tell so."""
MAX_RUNS = 10_000
"""Of all changes together, after which no further one is begun: to write 20,000 runs as HTML takes two seconds."""
SHOWN_CHARACTERS = 200
"""Characters of such a run that are left on both sides."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of the old text, of the new one, or of both, with its numbers there."""

    kind: Literal["same", "removed", "added"]
    old: int | None
    new: int | None
    runs: tuple[DiffRun, ...]


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """What is shown together: a change (numbered from 1) or its surroundings (0).

    `skipped` unchanged lines before it are not shown, nor `cut` lines of the change itself, after its rows.
    """

    number: int
    skipped: int
    rows: tuple[DiffRow, ...]
    cut: int = 0


def diff_hunks(difference: TextDiff) -> list[DiffHunk]:
    """The first MOST_CHANGES changes, of MOST_RUNS or little more, with a few lines around them."""
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
    """The run, or its first lines where it is a change of more than are shown."""
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
    """The lines of a change: those that were removed, then those that took their place, as far as they belong
    together."""
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
    """Lines that were removed, with those that stand there now. A line break that stayed ends a group."""
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
    """The line, without the middle of its very long unchanged runs."""
    if all(run.changed or len(run.text) <= MAX_RUN_CHARACTERS for run in runs):
        return runs
    return tuple(
        run
        if run.changed or len(run.text) <= MAX_RUN_CHARACTERS
        else DiffRun(run.kind, f"{run.text[:SHOWN_CHARACTERS]} … {run.text[-SHOWN_CHARACTERS:]}")
        for run in runs
    )
