"""The difference of two texts line by line, as they were written: what a page shows as its source."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from teams.text_diff.difference import Difference, Part, Run, lines_of

CONTEXT = 3
"""Lines that are shown before and after a change."""
LONGEST = 600
"""Characters of an unchanged run in one line, beyond which its middle is left out."""
MOST_CHANGES = 500
MOST_ROWS = 500
"""Of one change: what is longer was rewritten, and its first lines tell so."""
MOST_RUNS = 10_000
"""Of all changes together, after which no further one is begun: to write 20,000 runs as HTML takes two seconds."""
SHOWN = 200
"""Characters of such a run that are left on both sides."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the old text, of the new one, or of both, with its numbers there."""

    kind: Literal["same", "removed", "added"]
    old: int | None
    new: int | None
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """What is shown together: a change (numbered from 1) or its surroundings (0).

    `skipped` unchanged lines before it are not shown, nor `cut` lines of the change itself, after its rows.
    """

    number: int
    skipped: int
    rows: tuple[Row, ...]
    cut: int = 0


def places_of(difference: Difference) -> list[Place]:
    """The first MOST_CHANGES changes, of MOST_RUNS or little more, with a few lines around them."""
    parts, places, number, runs = difference.parts, list[Place](), 0, 0
    for index, part in enumerate(parts):
        if part.changed and (number == MOST_CHANGES or runs >= MOST_RUNS):
            break
        if part.changed:
            number += 1
            places.append(_change(part, number))
            runs += sum(len(row.runs) for row in places[-1].rows)
        else:
            places.extend(_surroundings(part, is_first=index == 0, is_last=index == len(parts) - 1))
    return places


def _change(part: Part, number: int) -> Place:
    # Nothing but the first rows is shown: a change of half a million lines is not taken apart.
    beginning = replace(part, runs=tuple(_beginning(run) for run in part.runs))
    rows = tuple(islice(_changed_rows(beginning), MOST_ROWS + 1))
    if len(rows) <= MOST_ROWS:
        return Place(number, 0, rows)
    lines = sum(run.text.count("\n") for run in part.runs if run.changed)
    return Place(number, 0, rows[:MOST_ROWS], cut=max(lines - MOST_ROWS, 1))


def _beginning(run: Run) -> Run:
    """The run, or its first lines where it is a change of more than are shown."""
    if not run.changed or run.text.count("\n") <= MOST_ROWS:
        return run
    return Run(run.kind, "".join(lines_of(run.text)[: MOST_ROWS + 1]))


def _surroundings(part: Part, *, is_first: bool, is_last: bool) -> Iterator[Place]:
    lines = lines_of(part.runs[0].text)
    ahead, behind = 0 if is_first else CONTEXT, 0 if is_last else CONTEXT
    skipped = max(len(lines) - ahead - behind, 0)
    if not is_first:
        yield Place(0, 0, _same_rows(part, lines, 0, len(lines) if skipped == 0 else ahead))
    if skipped or is_first:
        from_line = ahead + skipped
        yield Place(0, skipped, _same_rows(part, lines, from_line, len(lines)))


def _same_rows(part: Part, lines: list[str], from_line: int, to_line: int) -> tuple[Row, ...]:
    return tuple(
        Row("same", part.old_line + index, part.new_line + index, _shortened((Run("equal", lines[index]),)))
        for index in range(from_line, to_line)
    )


def _changed_rows(part: Part) -> Iterator[Row]:
    """The lines of a change: those that were removed, then those that took their place, as far as they belong
    together."""
    old, new = part.old_line, part.new_line
    for removed, added in _groups(part.runs):
        if removed == added:
            yield Row("same", old, new, _shortened(removed[0]))
        else:
            for index, runs in enumerate(removed):
                yield Row("removed", old + index, None, _shortened(runs))
            for index, runs in enumerate(added):
                yield Row("added", None, new + index, _shortened(runs))
        old, new = old + len(removed), new + len(added)


Line = tuple[Run, ...]


def _groups(runs: tuple[Run, ...]) -> Iterator[tuple[list[Line], list[Line]]]:
    """Lines that were removed, with those that stand there now. A line break that stayed ends a group."""
    sides: tuple[list[list[Run]], list[list[Run]]] = ([[]], [[]])
    for run in runs:
        for piece in lines_of(run.text):
            ends = piece.endswith("\n")
            for kind, side in (("added", sides[0]), ("removed", sides[1])):
                if run.kind != kind:
                    side[-1].append(Run(run.kind, piece))
                    if ends:
                        side.append([])
            if ends and not run.changed:
                yield _whole(sides[0]), _whole(sides[1])
                sides = ([[]], [[]])
    if any(map(_whole, sides)):
        yield _whole(sides[0]), _whole(sides[1])


def _whole(side: list[list[Run]]) -> list[Line]:
    return [tuple(line) for line in side if line]


def _shortened(runs: Line) -> Line:
    """The line, without the middle of its very long unchanged runs."""
    if all(run.changed or len(run.text) <= LONGEST for run in runs):
        return runs
    return tuple(
        run if run.changed or len(run.text) <= LONGEST else Run(run.kind, f"{run.text[:SHOWN]} … {run.text[-SHOWN:]}")
        for run in runs
    )
