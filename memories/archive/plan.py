"""This module plans an import by comparing an archive with the stored data, and applies the plan unit by unit.

Texts that were changed in Dossier after the plan was made are not overwritten.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, takewhile
from typing import Any

from django.db import transaction

from config.http.cpu_budget import check_cpu
from memories.archive.contents import ArchiveContents
from memories.archive.digests import ImportState
from memories.archive.sections import SECTIONS, ImportChange, ImportContext, ImportUnit, SkippedChange
from memories.imports.base import Advance, ImportRefused
from teams.principal import Principal

MAX_LINES = 4  # shown of each side
MAX_LINE_CHARACTERS = 200  # shown of each line


def first_lines(before: str, after: str) -> list[tuple[str, str]]:
    """Return the first removed (`-`) and added (`+`) lines; none where only line ends differ."""
    old, new = before.splitlines(), after.splitlines()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    old, new = old[same:], new[same:]
    ending = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(old), reversed(new), strict=False)))
    went, came = old[: len(old) - ending], new[: len(new) - ending]
    return [("-", _shortened_line(line)) for line in went[:MAX_LINES]] + [
        ("+", _shortened_line(line)) for line in came[:MAX_LINES]
    ]


def _shortened_line(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]} …"


NOTHING_KNOWN = (
    "There is nothing in it that Dossier knows: folders like agents/luna with IDENTITY.md, or teams/care with "
    "GOALS.md. Export something to see how an archive is laid out."
)
DEFAULT_STATES = {ImportState.NEW, ImportState.CHANGED}
"""The states of changes that are imported by default."""
OPTIONAL_STATES = {ImportState.NEWER, ImportState.BOTH}
"""The states of changes that are imported only when chosen: the text was changed in Dossier since the export."""


MAX_UNKNOWN_NAMES = 1_000
"""The most names of files that are no part of an archive that a preview lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportStep:
    """A change as it is shown and stored in the plan: `lines` are the first different ones, sizes are in characters."""

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
class ImportPreview:
    """The steps of an import, the number of unchanged items, and the names of files that are no part of an archive."""

    steps: list[ImportStep]
    same: int
    aside: list[str]


def units_of(contents: ArchiveContents) -> tuple[list[ImportUnit], list[str]]:
    """Return the units of the archive, in the order of import, and the names of files that belong to none."""
    files: dict[str, dict[str, str]] = {}
    aside = []
    for name in contents.names:
        folder, _, rest = name.partition("/")
        owner, _, inner = rest.partition("/")
        section = SECTIONS.get(folder)
        unit, within = (f"{folder}/{owner}", inner) if section and section.has_units else (folder, rest)
        if section and section.accepts_file(within):
            files.setdefault(unit, {})[within] = name
        else:
            aside.append(name)
    places = list(SECTIONS)
    ordered = sorted(files, key=lambda unit: (places.index(unit.partition("/")[0]), unit))
    return [ImportUnit(SECTIONS[unit.partition("/")[0]], unit, files[unit], contents) for unit in ordered], aside


def preview_import(contents: ArchiveContents, principal: Principal, advance: Advance = bool) -> ImportPreview:
    """Return what importing the archive would change. Raises ImportRefused where the archive has no known file.

    `advance` is called with 1 after each unit.
    """
    units, aside = units_of(contents)
    if not units:
        raise ImportRefused(NOTHING_KNOWN)
    steps, same, current = list[ImportStep](), 0, units[0]
    for unit, change in _changes(units, principal):
        check_cpu()
        if unit is not current:
            advance(1)
            current = unit
        if change.state is ImportState.SAME:
            same += 1
        else:
            steps.append(_step(unit, change))
    return ImportPreview(steps, same, aside[:MAX_UNKNOWN_NAMES])


def _changes(units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
    """Yield all changes of all units; each section compares its units together."""
    for section, own in groupby(units, key=lambda unit: unit.section):
        yield from section.changes(list(own), principal)


def _step(unit: ImportUnit, change: ImportChange) -> ImportStep:
    return ImportStep(
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


def load_steps(kept: list[Mapping[str, Any]]) -> Iterator[ImportStep]:
    """Yield the steps of a plan from their stored JSON."""
    for step in kept:
        check_cpu()
        yield ImportStep(**step)


def is_selected(step: ImportStep, chosen: set[str]) -> bool:
    """Return whether the step is to be applied, where `chosen` holds the names that the requester chose."""
    return step.state in DEFAULT_STATES or (step.state in OPTIONAL_STATES and step.name in chosen)


CHANGED_SINCE = "It was changed here after you looked, so it was left as it is. Import the archive again to see both."


def apply_units(
    contents: ArchiveContents, steps: Sequence[ImportStep], import_context: ImportContext
) -> Iterator[tuple[str, int, list[SkippedChange]]]:
    """Apply the steps, unit by unit; yield, inside the unit's transaction, its name, the number stored, and the
    skipped.

    A step whose result exists already counts as stored, so that an import can be repeated.
    """
    by_unit = defaultdict[str, list[ImportStep]](list)
    for step in steps:
        by_unit[step.unit].append(step)
    for unit in units_of(contents)[0]:
        if unit.name in by_unit:
            with transaction.atomic():
                left = _apply_unit(unit, by_unit[unit.name], import_context)
                yield unit.name, len(by_unit[unit.name]) - sum(one.count for one in left), left


def _apply_unit(unit: ImportUnit, steps: Sequence[ImportStep], import_context: ImportContext) -> list[SkippedChange]:
    wanted = {step.name for step in steps}
    # Only selected changes are held in memory, without the text that they replace: a unit may have many megabytes.
    changes = (
        change for _unit, change in unit.section.changes([unit], import_context.principal) if change.name in wanted
    )
    now = {change.name: replace(change, before="") for change in changes}
    ready, left = list[ImportChange](), list[SkippedChange]()
    for step in steps:
        change = now.get(step.name)
        if change and _matches_preview(change, step):
            ready.append(change)
        elif change is None or change.state is not ImportState.SAME:
            left.append(
                SkippedChange(
                    step.name, change.reason if change and change.state is ImportState.REFUSED else CHANGED_SINCE
                )
            )
    import_context.advance(len(steps) - len(ready))
    return left + unit.section.store(unit, ready, import_context)


def _matches_preview(change: ImportChange, step: ImportStep) -> bool:
    return (change.version, change.state.value) == (step.version, step.state)
