"""Where two texts begin to differ, in a few lines: enough to know what a change is about.

From an archive to what importing it would do. Nothing is written here.

Importing what was shown: one transaction per unit, and nothing that was changed here since is overwritten.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any

from django.db import transaction

from config.http.cpu_budget import check_cpu
from memories.archive.contents import Contents
from memories.archive.digests import State
from memories.archive.sections import ROOMS, Change, Left, Storing, Unit
from memories.imports.base import Advance, ImportRefused
from teams.principal import Principal

MOST_LINES = 4  # of each side
MOST_CHARACTERS = 200  # of a line


def first_lines(before: str, after: str) -> list[tuple[str, str]]:
    """The first lines that went (`-`) and came (`+`); none where nothing but line ends differs."""
    old, new = before.splitlines(), after.splitlines()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    old, new = old[same:], new[same:]
    ending = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(old), reversed(new), strict=False)))
    went, came = old[: len(old) - ending], new[: len(new) - ending]
    return [("-", _short(line)) for line in went[:MOST_LINES]] + [("+", _short(line)) for line in came[:MOST_LINES]]


def _short(line: str) -> str:
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]} …"


LAYOUT = (
    "There is nothing in it that Dossier knows: folders like agents/luna with IDENTITY.md, or teams/care with "
    "GOALS.md. Export something to see how an archive is laid out."
)
READY = {State.NEW, State.CHANGED}
"""What is imported without being asked for by name."""
TO_CHOOSE = {State.NEWER, State.BOTH}
"""What was changed here since the export: it is imported only where somebody says so."""


MOST_ASIDE = 1_000
"""Names of what is no part of an archive that are listed: enough to see what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change as it is shown and kept: `lines` are the first ones that differ, sizes are characters."""

    unit: str
    name: str
    what: str
    state: str
    version: int
    size_before: int = 0
    size_after: int = 0
    lines: list[Any] = field(default_factory=list)
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Shown:
    """What importing would do, how many things are the same, and the first names of what is no part of an archive."""

    steps: list[Step]
    same: int
    aside: list[str]


def units_of(contents: Contents) -> tuple[list[Unit], list[str]]:
    """The units in the archive, in the order in which they are imported, and the names of all else."""
    files: dict[str, dict[str, str]] = {}
    aside = []
    for name in contents.names:
        folder, _, rest = name.partition("/")
        owner, _, inner = rest.partition("/")
        room = ROOMS.get(folder)
        unit, within = (f"{folder}/{owner}", inner) if room and room.is_divided else (folder, rest)
        if room and room.understands(within):
            files.setdefault(unit, {})[within] = name
        else:
            aside.append(name)
    places = list(ROOMS)
    ordered = sorted(files, key=lambda unit: (places.index(unit.partition("/")[0]), unit))
    return [Unit(ROOMS[unit.partition("/")[0]], unit, files[unit], contents) for unit in ordered], aside


def shown_of(contents: Contents, principal: Principal, advance: Advance = bool) -> Shown:
    """What importing the archive would do. Raises ImportRefused for one with nothing in it that is known.

    `advance` is told of each unit that is done.
    """
    units, aside = units_of(contents)
    if not units:
        raise ImportRefused(LAYOUT)
    steps, same, current = list[Step](), 0, units[0]
    for unit, change in _changes(units, principal):
        check_cpu()
        if unit is not current:
            advance(1)
            current = unit
        if change.state is State.SAME:
            same += 1
        else:
            steps.append(_step(unit, change))
    return Shown(steps, same, aside[:MOST_ASIDE])


def _changes(units: Sequence[Unit], principal: Principal) -> Iterator[tuple[Unit, Change]]:
    """All changes of all units; each room looks at its units together."""
    for room, own in groupby(units, key=lambda unit: unit.room):
        yield from room.changes(list(own), principal)


def _step(unit: Unit, change: Change) -> Step:
    return Step(
        unit=unit.name,
        name=change.name,
        what=change.what,
        state=change.state.value,
        version=change.version,
        size_before=len(change.before),
        size_after=len(change.after),
        lines=[list(line) for line in first_lines(change.before, change.after)],
        reason=change.reason,
    )


def steps_read(kept: list[Mapping[str, Any]]) -> Iterator[Step]:
    """The steps as they were shown, from where they are kept."""
    for step in kept:
        check_cpu()
        yield Step(**step)


def taken(step: Step, chosen: set[str]) -> bool:
    """Whether the step is to be done, when these were chosen by name."""
    return step.state in READY or (step.state in TO_CHOOSE and step.name in chosen)


CHANGED_SINCE = "It was changed here after you looked, so it was left as it is. Import the archive again to see both."


def units_apply(contents: Contents, steps: Sequence[Step], storing: Storing) -> Iterator[tuple[str, int, list[Left]]]:
    """Do the steps, unit by unit. Yields, within the unit's transaction, its name, how much was stored, what was not.

    A step of which the outcome is there already counts as stored, so that an import can be done again.
    """
    by_unit = defaultdict[str, list[Step]](list)
    for step in steps:
        by_unit[step.unit].append(step)
    for unit in units_of(contents)[0]:
        if unit.name in by_unit:
            with transaction.atomic():
                left = _unit_apply(unit, by_unit[unit.name], storing)
                yield unit.name, len(by_unit[unit.name]) - sum(one.count for one in left), left


def _unit_apply(unit: Unit, steps: Sequence[Step], storing: Storing) -> list[Left]:
    wanted = {step.name for step in steps}
    # Of what is not wanted nothing is held, and of the rest not what it replaces: a unit may have many megabytes.
    changes = (change for _unit, change in unit.room.changes([unit], storing.principal) if change.name in wanted)
    now = {change.name: replace(change, before="") for change in changes}
    ready, left = list[Change](), list[Left]()
    for step in steps:
        change = now.get(step.name)
        if change and _as_shown(change, step):
            ready.append(change)
        elif change is None or change.state is not State.SAME:
            left.append(Left(step.name, change.reason if change and change.state is State.REFUSED else CHANGED_SINCE))
    storing.advance(len(steps) - len(ready))
    return left + unit.room.store(unit, ready, storing)


def _as_shown(change: Change, step: Step) -> bool:
    return (change.version, change.state.value) == (step.version, step.state)
