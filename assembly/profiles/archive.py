"""profiles/: the profiles that admins wrote or changed, each a text as it stands."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from assembly.models import StoredProfile
from assembly.profiles.catalogue import find_profile_row, is_stored, profile_fault
from assembly.profiles.services import profile_create, profile_save
from assembly.profiles.shipped import SHIPPED
from memories.archive.digests import ImportState
from memories.archive.sections import (
    ArchiveEntry,
    ExportScope,
    ImportChange,
    ImportContext,
    ImportUnit,
    SkippedChange,
    register,
)
from memories.archive.text_section import (
    ENDING,
    NOT_AN_ADMIN,
    attempt_all,
    load_digests,
    text_change,
    text_entries,
    text_names,
    with_refusal,
)
from teams.principal import Principal


class ProfileArchiveSection:
    folder = "profiles"
    has_units = False

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        if scope.organisation:
            rows = StoredProfile.objects.order_by("name")
            yield from text_entries(self.folder, ((row.name, row.content) for row in rows))

    def accepts_file(self, within: str) -> bool:
        return "/" not in within and (within.endswith(ENDING) or within == "profiles.json")

    def changes(self, units: Sequence[ImportUnit], principal: Principal) -> Iterator[tuple[ImportUnit, ImportChange]]:
        (unit,) = units
        marks = load_digests(unit)
        for within in text_names(unit):
            change = self._change(unit, within, marks.get(within, ""))
            yield unit, change if principal.is_admin else with_refusal(change, NOT_AN_ADMIN)

    def _change(self, unit: ImportUnit, within: str, exported: str) -> ImportChange:
        name = within.removesuffix(ENDING)
        here = find_profile_row(name)
        shipped = here is not None and not is_stored(here)
        change = text_change(unit, within, "profile", here, "" if shipped else exported)
        fault = profile_fault(change.after, name) if change.state in {ImportState.NEW, ImportState.CHANGED} else None
        return replace(change, state=ImportState.REFUSED, reason=fault.detail) if fault else change

    def store(
        self, unit: ImportUnit, changes: Sequence[ImportChange], import_context: ImportContext
    ) -> list[SkippedChange]:
        return attempt_all(
            {change.name: partial(self._take, change, import_context) for change in changes}, import_context.advance
        )

    def _take(self, change: ImportChange, import_context: ImportContext) -> None:
        name = change.name.rpartition("/")[2].removesuffix(ENDING)
        if change.version or name in SHIPPED:
            profile_save(
                name=name,
                content=change.after,
                expected_version=change.version,
                principal=import_context.principal,
                note=import_context.note,
            )
        else:
            profile_create(
                name=name, content=change.after, principal=import_context.principal, note=import_context.note
            )


register(ProfileArchiveSection())
