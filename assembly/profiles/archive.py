"""The folder `profiles/` of an archive has the profiles that admins wrote or changed, each as a text."""

from collections.abc import Callable, Iterator
from functools import partial

from assembly.models import StoredProfile
from assembly.profiles.catalogue import find_profile_row, is_stored, profile_fault
from assembly.profiles.services import profile_create, profile_save
from assembly.profiles.shipped import SHIPPED
from memories.archive.sections import ArchiveEntry, ExportScope, ImportChange, ImportContext, ImportUnit, register
from memories.archive.text_section import ENDING, DocumentSection, refuse_unreadable, text_change, text_entries
from teams.principal import Principal


class ProfileArchiveSection(DocumentSection):
    folder = "profiles"

    def entries(self, scope: ExportScope) -> Iterator[ArchiveEntry]:
        if scope.organisation:
            rows = StoredProfile.objects.order_by("name")
            yield from text_entries(self.folder, ((row.name, row.content) for row in rows))

    def change_of(self, unit: ImportUnit, principal: Principal) -> Callable[[str, str], ImportChange]:
        return partial(_import_change, unit)

    def save(self, name: str, change: ImportChange, import_context: ImportContext) -> None:
        principal, note = import_context.principal, import_context.note
        if change.version or name in SHIPPED:
            profile_save(
                name=name, content=change.after, expected_version=change.version, principal=principal, note=note
            )
        else:
            profile_create(name=name, content=change.after, principal=principal, note=note)


def _import_change(unit: ImportUnit, within: str, exported: str) -> ImportChange:
    name = within.removesuffix(ENDING)
    here = find_profile_row(name)
    shipped = here is not None and not is_stored(here)
    change = text_change(unit, within, "profile", here, "" if shipped else exported)
    return refuse_unreadable(change, partial(profile_fault, name=name))


register(ProfileArchiveSection())
