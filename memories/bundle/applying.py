"""Importing what was shown: one transaction per unit, and nothing that was changed here since is overwritten."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.db import transaction

from memories.bundle.contents import Contents
from memories.bundle.marks import State
from memories.bundle.planning import Step, units_of
from memories.bundle.rooms import Change, Left, Storing, Unit

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
