"""Merging memories that say the same: one stays, the others are superseded by it; and undoing that."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from config.http.errors import Conflict, Invalid, NotFound
from memories.models import Memory, MemoryVersion
from memories.services.memory import Owner, lock_expected, memories_of, owner_of, require_changeable, store_next_version
from teams.principal import Principal
from teams.versioned_text.versioned_file import lock_row

MAX_MERGED = 20


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """What a merging is made of: the ids of all with the versions that were seen, and which of them stays."""

    keep: UUID
    versions: Mapping[UUID, int]
    text: str | None = None
    """What the one that stays is to say; None: what it says now."""


@transaction.atomic
def memories_merge(*, owner: Owner, merging: MergeRequest, principal: Principal) -> Memory:
    """The one that stays, as a new version; the others are superseded by it. It is pinned where any of them was.

    Raises StaleVersion where somebody changed one meanwhile, NotFound, Invalid for what cannot be merged, and Forbidden
    as `require_changeable` does.
    """
    others = [id_ for id_ in merging.versions if id_ != merging.keep]
    if merging.keep not in merging.versions or not 1 <= len(others) < MAX_MERGED:
        raise Invalid("memories", f"Choose 2 to {MAX_MERGED} memories, and among them the one that stays.")
    lock_row(owner)  # two mergings at once take turns
    memories = _lock_current(owner, merging.versions)
    require_changeable(principal, *memories.values())
    kept = memories.pop(merging.keep)
    pinned = kept.pinned or any(memory.pinned for memory in memories.values())
    for memory in memories.values():
        memory.superseded_by, memory.pinned = kept, False
        store_next_version(memory, principal, f"Merged into: {kept.text}"[:200])
    text = kept.text if merging.text is None else merging.text
    changed, kept.text, kept.pinned = text != kept.text, text, pinned
    store_next_version(kept, principal, says_something_else=changed, merged=list(memories))
    return kept


@transaction.atomic
def memories_unmerge(*, memory: Memory, expected_version: int, principal: Principal) -> Memory:
    """Undo the last merging into the memory: those that it took the place of stand again.

    Its text goes back to what it was, unless somebody changed it since. Raises StaleVersion, and Conflict where nothing
    is to be undone.
    """
    lock_row(owner_of(memory))
    current = lock_expected(memory, expected_version)
    merging = last_merge(current)
    if merging is None:
        raise Conflict("Nothing was merged into this memory, or it was separated already.")
    merged = list(Memory.objects.filter(id__in=merging.merged, superseded_by=current).order_by("id"))
    require_changeable(principal, current, *merged)
    for row in merged:
        other = lock_row(row)
        other.superseded_by, other.pinned = None, _previous_version(other, other.version).pinned
        store_next_version(other, principal)
    before = _previous_version(current, merging.version)
    current.pinned = current.pinned and before.pinned
    goes_back = current.text == merging.content
    changed = goes_back and before.content != current.text
    current.text = before.content if goes_back else current.text
    store_next_version(current, principal, says_something_else=changed)
    return current


def last_merge(memory: Memory) -> MemoryVersion | None:
    """The last version by which the memory took the place of others that it still takes; None without one."""
    merged = MemoryVersion.objects.filter(file=memory).exclude(merged=[]).order_by("-version").first()
    if merged is None or not Memory.objects.filter(id__in=merged.merged, superseded_by=memory).exists():
        return None
    return merged


def _previous_version(memory: Memory, version: int) -> MemoryVersion:
    """The memory's version before that one."""
    return MemoryVersion.objects.get(file=memory, version=version - 1)


def _lock_current(owner: Owner, versions: Mapping[UUID, int]) -> dict[UUID, Memory]:
    """The owner's memories by id, held in the order of their ids."""
    found = {memory.id: memory for memory in memories_of(owner).filter(id__in=versions).order_by("id")}
    if missing := set(versions) - set(found):
        raise NotFound(f"The memory “{min(missing)}”")
    held = {id_: lock_expected(memory, versions[id_]) for id_, memory in found.items()}
    if not all(memory.stands for memory in held.values()):
        raise Invalid("memories", "One of them is retired, or has a successor already. Choose others.")
    return held
