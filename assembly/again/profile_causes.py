"""What became of the profile between two contexts: which version of it, by whom, and when."""

from assembly.again.cause import Cause
from assembly.again.settings import same_but_for_sections, sections_of
from assembly.engine.profile import Profile
from assembly.models import StoredProfileVersion


def profile_cause(before: Profile, after: Profile) -> Cause | None:
    """That the profile is another one, or of another version; None where both say the same. One query at most.

    A shipped profile that nobody changed came in another shape with a newer Dossier: nobody made that version here.
    """
    if before == after or (sections_of(before) == sections_of(after) and _alike(before, after)):
        return None
    row = StoredProfileVersion.objects.filter(file__name=after.name, version=after.version).first()
    changed = Cause("profile_changed", after.name, f"profile:{after.name}", before.version, after.version)
    if row is None:
        return changed
    return Cause(
        changed.kind, changed.name, changed.ref, before.version, after.version, row.editor_name, row.created, row.note
    )


def touches(section: str, before: Profile, after: Profile) -> bool:
    """Whether what differs between the profiles bears on that section."""
    if not same_but_for_sections(before, after):
        return True
    return sections_of(before).get(section) != sections_of(after).get(section)


def _alike(before: Profile, after: Profile) -> bool:
    return same_but_for_sections(before, after) and before.budget == after.budget
