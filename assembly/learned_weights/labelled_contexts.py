"""Feedback on contexts, as the weights are learned from it."""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from assembly.engine.refs import without_version
from assembly.models import Assembly, AssemblyFeedback

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


def labelled_contexts(profile: str) -> list[LabelledContext]:
    """Return the contexts of the profile with the newest feedback that names used items, the newest feedback first.

    What several people said about one context is put together; an item that anybody called useless is not used.
    """
    used, useless = defaultdict[UUID, set[str]](set), defaultdict[UUID, set[str]](set)
    of_profile = Assembly.objects.filter(profile_name=profile)
    rows = AssemblyFeedback.objects.filter(assembly__in=of_profile.values("id")).order_by("-created", "-id")
    for assembly, used_refs, useless_refs in rows.values_list("assembly", "used", "useless")[:MAX_FEEDBACK]:
        used[assembly] |= set(used_refs)
        useless[assembly] |= set(useless_refs)
    return [LabelledContext(id_, frozenset(refs), frozenset(useless[id_])) for id_, refs in used.items() if refs]
