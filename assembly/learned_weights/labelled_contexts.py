"""Feedback on contexts, as the weights are learned from it."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from assembly.engine.profile import Profile
from assembly.engine.refs import without_version
from assembly.models import Assembly, AssemblyFeedback, AssemblyQuerySet
from assembly.profiles.catalogue import find_profile_row, is_stored

MAX_FEEDBACK = 2_000
"""The number of newest entries of feedback that are learned from."""


@dataclass(frozen=True, slots=True)
class LabelledContext:
    """A context of which somebody said which of its items were used, and which were useless; both are refs."""

    assembly_id: UUID
    used: frozenset[str]
    useless: frozenset[str] = frozenset()

    def uses(self, ref: str) -> bool:
        """Return whether the item was used and not called useless, whatever the version of the refs."""
        named = without_version(ref)
        return _names(ref, named, self.used) and not _names(ref, named, self.useless)


def _names(ref: str, named: str, refs: frozenset[str]) -> bool:
    return ref in refs or named in refs


def contexts_of(profile: Profile) -> AssemblyQuerySet:
    """Return the contexts that this version of the profile made, without those of a deleted profile with its name."""
    found: AssemblyQuerySet = Assembly.objects.filter(profile_name=profile.name, profile_version=profile.version)
    row = find_profile_row(profile.name)
    return found.filter(created__gte=row.created) if row and is_stored(row) else found


def labelled_contexts(profile: Profile, made_after: datetime | None = None) -> list[LabelledContext]:
    """Return the contexts of this version of the profile with the newest feedback that names used items, the newest
    feedback first; if a moment is given, only contexts made after it.

    What several people said about one context is put together; an item that anybody called useless is not used.
    """
    used, useless = defaultdict[UUID, set[str]](set), defaultdict[UUID, set[str]](set)
    contexts = contexts_of(profile)
    if made_after:
        contexts = contexts.filter(created__gt=made_after)
    rows = AssemblyFeedback.objects.filter(assembly__in=contexts.values("id")).order_by("-created", "-id")
    for assembly, used_refs, useless_refs in rows.values_list("assembly", "used", "useless")[:MAX_FEEDBACK]:
        used[assembly] |= set(used_refs)
        useless[assembly] |= set(useless_refs)
    return [LabelledContext(id_, frozenset(refs), frozenset(useless[id_])) for id_, refs in used.items() if refs]


def has_feedback_since(profile: Profile, moment: datetime) -> bool:
    """Return whether somebody named used items of a context of this version of the profile after the moment."""
    given = AssemblyFeedback.objects.filter(assembly__in=contexts_of(profile).values("id"), created__gt=moment)
    return given.exclude(used=[]).exists()
