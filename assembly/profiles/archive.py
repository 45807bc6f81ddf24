"""profiles/: the profiles that admins wrote or changed, each a text as it stands."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from assembly.models import StoredProfile
from assembly.profiles.catalogue import fault_of, is_stored, row_named
from assembly.profiles.services import profile_create, profile_save
from assembly.profiles.shipped import SHIPPED
from memories.archive.digests import State
from memories.archive.sections import Change, Entry, Left, Scope, Storing, Unit, register
from memories.archive.text_section import (
    ENDING,
    NOT_AN_ADMIN,
    attempted,
    entries_of_texts,
    marks_read,
    names_in,
    refused,
    text_change,
)
from teams.principal import Principal


class ProfileRoom:
    folder = "profiles"
    is_divided = False

    def entries(self, scope: Scope) -> Iterator[Entry]:
        if scope.organisation:
            rows = StoredProfile.objects.order_by("name")
            yield from entries_of_texts(self.folder, ((row.name, row.content) for row in rows))

    def understands(self, within: str) -> bool:
        return "/" not in within and (within.endswith(ENDING) or within == "profiles.json")

    def changes(self, units: Sequence[Unit], principal: Principal) -> Iterator[tuple[Unit, Change]]:
        (unit,) = units
        marks = marks_read(unit)
        for within in names_in(unit):
            change = self._change(unit, within, marks.get(within, ""))
            yield unit, change if principal.is_admin else refused(change, NOT_AN_ADMIN)

    def _change(self, unit: Unit, within: str, exported: str) -> Change:
        name = within.removesuffix(ENDING)
        here = row_named(name)
        shipped = here is not None and not is_stored(here)
        change = text_change(unit, within, "profile", here, "" if shipped else exported)
        fault = fault_of(change.after, name) if change.state in {State.NEW, State.CHANGED} else None
        return replace(change, state=State.REFUSED, reason=fault.detail) if fault else change

    def store(self, unit: Unit, changes: Sequence[Change], storing: Storing) -> list[Left]:
        return attempted({change.name: partial(self._take, change, storing) for change in changes}, storing.advance)

    def _take(self, change: Change, storing: Storing) -> None:
        name = change.name.rpartition("/")[2].removesuffix(ENDING)
        if change.version or name in SHIPPED:
            profile_save(
                name=name,
                content=change.after,
                expected_version=change.version,
                principal=storing.principal,
                note=storing.note,
            )
        else:
            profile_create(name=name, content=change.after, principal=storing.principal, note=storing.note)


register(ProfileRoom())
