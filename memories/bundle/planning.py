"""From an archive to what importing it would do. Nothing is written here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from config.http.cpu_budget import check_cpu
from memories.bundle.contents import Contents
from memories.bundle.first_lines import first_lines
from memories.bundle.marks import State
from memories.bundle.rooms import ROOMS, Change, Unit
from memories.importing import Advance, ImportRefused
from teams.principal import Principal

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
