"""This module merges memories of the same meaning into one, or supersedes them by a new one. Both can be undone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from config.http.errors import Conflict, Invalid, NotFound
from memories.models import Memory, MemoryVersion
from memories.services.announcements import announce_in_reach, memories_separated
from memories.services.authorship import require_changeable
from memories.services.memory import (
    MemoryFacts,
    Owner,
    lock_expected,
    memories_of,
    memory_create,
    owner_of,
    store_next_version,
)
from teams.origin import Origin, least_trusted
from teams.principal import Principal
from teams.secret_scanning.handling import storable_text
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import lock_row

MAX_MERGED = 20


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """A request to merge memories: the ids of all, with the versions that the caller saw; `keep` is the one that
    remains.
    """

    keep: UUID
    versions: Mapping[UUID, int]
    text: str | None = None
    """The new text of the memory that remains; None leaves its text unchanged."""


@transaction.atomic
def memories_merge(*, owner: Owner, merging: MergeRequest, principal: Principal) -> Memory:
    """Merge memories of one owner, and return the new version of the one that remains; it supersedes the others.

    The remaining memory has the least trusted origin and the highest sensitivity of all, and is pinned where any of
    them was. Raises StaleVersion where one changed since the caller saw it, NotFound, Invalid for memories that cannot
    be merged, and Forbidden for an agent's key in a team whose memories by people it must not change.
    """
    others = [id_ for id_ in merging.versions if id_ != merging.keep]
    if merging.keep not in merging.versions or not 1 <= len(others) < MAX_MERGED:
        raise Invalid("memories", f"Choose 2 to {MAX_MERGED} memories, and among them the one that stays.")
    lock_row(owner)  # concurrent merges wait for each other
    memories = _lock_current(owner, merging.versions)
    require_changeable(principal, *memories.values())
    kept = memories.pop(merging.keep)
    pinned = kept.pinned or any(memory.pinned for memory in memories.values())
    origins = [kept.origin, *(memory.origin for memory in memories.values())]
    kept.sensitivity = max(kept.sensitivity, *(memory.sensitivity for memory in memories.values()))
    for memory in memories.values():
        memory.superseded_by, memory.pinned = kept, False
        store_next_version(memory, principal, _note(memory, "Merged into", kept))
    text = kept.text if merging.text is None else storable_text(merging.text, owner)
    changed, kept.text, kept.pinned = text != kept.text, text, pinned
    if changed:
        origins.append(principal.author.origin)
    store_next_version(
        kept, principal, says_something_else=changed, merged=list(memories), origin=least_trusted(*origins)
    )
    return kept


def _note(memory: Memory, what: str, other: Memory) -> str:
    """Return the note on what became of the memory; it does not tell the text of a more sensitive one."""
    return f"{what}: {other.text}"[:200] if other.sensitivity <= memory.sensitivity else f"{what} another memory"


@transaction.atomic
def memory_supersede(*, owner: Owner, facts: MemoryFacts, superseded: Collection[UUID], principal: Principal) -> Memory:
    """Create a memory that supersedes other memories of its owner, and return its version 2, which names them.

    Its origin is trusted no more than theirs, its sensitivity is at least theirs, and it is pinned where any of them
    was. `memories_unmerge` makes them active again, and leaves the new memory. Raises Invalid for memories that cannot
    be superseded, Conflict where the owner has the external id already, and Forbidden for an agent's key in a team
    whose memories by people it must not change.
    """
    if len(superseded) >= MAX_MERGED:
        raise Invalid("supersedes", f"Name at most {MAX_MERGED - 1} memories.")
    lock_row(owner)  # concurrent merges wait for each other
    others = [lock_row(one) for one in memories_of(owner).filter(id__in=superseded).order_by("id")]
    if missing := set(superseded) - {one.id for one in others}:
        raise Invalid("supersedes", f"The memory {min(missing)} does not exist, or has another owner.", "unknown")
    if not all(one.stands for one in others):
        raise Invalid("supersedes", "One of them is archived or superseded already.", "not_active")
    require_changeable(principal, *others)
    origin = least_trusted(facts.origin, *(one.origin for one in others))
    own = DEFAULT_LEVEL if facts.sensitivity is None else facts.sensitivity
    level = max([own, *(one.sensitivity for one in others)])
    facts = replace(facts, origin=origin, sensitivity=level)
    created = memory_create(owner=owner, facts=facts, principal=principal)
    created.pinned = any(one.pinned for one in others)
    for one in others:
        one.superseded_by, one.pinned = created, False
        store_next_version(one, principal, _note(one, "Superseded by", created))
    store_next_version(created, principal, merged=[one.id for one in others])
    return created


@transaction.atomic
def memories_unmerge(
    *, memory: Memory, expected_version: int, other: UUID | None = None, principal: Principal
) -> Memory:
    """Undo the last merge into the memory, and return the memory's new version; the merged ones are no longer
    superseded. With `other`, undo the merge of this memory alone.

    The text goes back to that before the merge, unless it was changed since; text, pin and origin stay if later merges
    do. Raises StaleVersion, and Conflict where there is no merge to undo.
    """
    lock_row(owner_of(memory))
    current = lock_expected(memory, expected_version)
    merges = list(_merges(current))
    merging = next((one for one in merges if other is None or one.merged == [other]), None)
    if merging is None:
        raise Conflict("Nothing was merged into this memory, or it was separated already.")
    merged = list(Memory.objects.filter(id__in=merging.merged, superseded_by=current).order_by("id"))
    require_changeable(principal, current, *merged)
    separated = [lock_row(row) for row in merged]
    for one in separated:
        one.superseded_by, one.pinned = None, _previous_version(one, one.version).pinned
        store_next_version(one, principal)
    announce_in_reach(Memory, [one.id for one in separated])
    before = _previous_version(current, merging.version)
    is_last = merging == merges[0]
    goes_back = is_last and current.text == merging.content
    changed = goes_back and before.content != current.text
    current.pinned = current.pinned and (before.pinned or not is_last)
    current.text = before.content if goes_back else current.text
    origin = Origin(before.origin if goes_back else current.origin)
    store_next_version(current, principal, says_something_else=changed, origin=origin)
    memories_separated.send(sender=Memory, kept=current, others=separated, principal=principal)
    return current


def last_merge(memory: Memory) -> MemoryVersion | None:
    """Return the version of the last merge into the memory that was not undone; None if there is none."""
    return _merges(memory).first()


def _merges(memory: Memory) -> QuerySet[MemoryVersion]:
    """Return the versions of merges into the memory of which it still supersedes a memory, the last merge first."""
    superseded = list(Memory.objects.filter(superseded_by=memory).values_list("id", flat=True))
    merges = MemoryVersion.objects.filter(file=memory, merged__overlap=superseded).order_by("-version")
    return merges if superseded else merges.none()


def _previous_version(memory: Memory, version: int) -> MemoryVersion:
    """Return the version of the memory before this version number."""
    return MemoryVersion.everything.get(file=memory, version=version - 1)


def _lock_current(owner: Owner, versions: Mapping[UUID, int]) -> dict[UUID, Memory]:
    """Lock these memories of the owner in the order of their ids, and return them by id.

    Raises NotFound, StaleVersion, and Invalid where one is retired or superseded.
    """
    found = {memory.id: memory for memory in memories_of(owner).filter(id__in=versions).order_by("id")}
    if missing := set(versions) - set(found):
        raise NotFound(f"The memory “{min(missing)}”")
    held = {id_: lock_expected(memory, versions[id_]) for id_, memory in found.items()}
    if not all(memory.stands for memory in held.values()):
        raise Invalid("memories", "One of them is archived or superseded. Choose others.")
    return held
