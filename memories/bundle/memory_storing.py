"""Taking memories over from an archive: under the ids that they had, whole, each with a version."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from config.http.errors import Invalid
from memories.bundle.rooms import Change, Storing
from memories.directions import give_directions
from memories.models import Memory, MemoryVersion
from memories.services import BATCH_ROWS, Owner, memories_of
from memories.services.memory import require_changeable
from teams.files import StaleVersion, locked
from teams.principal import Author, Principal

CIRCLE = "A memory cannot be superseded by itself, directly or in a circle. Correct `superseded_by` in the archive."


@transaction.atomic
def memories_take(*, owner: Owner, changes: Sequence[Change], storing: Storing) -> None:
    """Store those of the changes that are new to the owner, in batches."""
    ids = _free_ids([change.item[0] for change in changes])
    for start in range(0, len(changes), BATCH_ROWS):
        batch = [_new(owner, change, ids, storing.principal.author) for change in changes[start : start + BATCH_ROWS]]
        _insert(batch, storing.note)
        storing.advance(len(batch))
    _supersede(owner, {ids.get(change.item[0], change.item[0]): change.item[2] for change in changes}, ids)


def _free_ids(ids: Sequence[UUID | None]) -> dict[UUID | None, UUID]:
    """For ids that memories of others have, new ones; for all else, the same."""
    wanted = [id_ for id_ in ids if id_]
    taken = set[UUID]()
    for start in range(0, len(wanted), BATCH_ROWS):
        rows = Memory.objects.filter(id__in=wanted[start : start + BATCH_ROWS])
        taken |= set(rows.values_list("id", flat=True))
    return {id_: uuid7() if id_ in taken else id_ for id_ in wanted}


def _new(owner: Owner, change: Change, ids: Mapping[UUID | None, UUID], author: Author) -> tuple[Memory, UUID | None]:
    """The memory, not superseded yet, and what is to supersede it."""
    id_, values, successor = change.item
    memory = Memory(id=ids.get(id_) or uuid7(), **values)
    memory.agent, memory.team = (owner, None) if isinstance(owner, Agent) else (None, owner)
    if id_ and memory.id != id_:
        memory.external_id = memory.external_id or f"memory:{id_}"
    memory.signed_by(author)
    return memory, ids.get(successor, successor)


def _insert(batch: Sequence[tuple[Memory, UUID | None]], note: str) -> None:
    memories = [memory for memory, _ in batch]
    give_directions(memories)
    Memory.objects.bulk_create(memories)
    MemoryVersion.objects.bulk_create(_versions(batch, note))
    for memory in memories:
        memory.created = _made(memory.id)
    Memory.objects.bulk_update(memories, ["created"])


def _versions(batch: Sequence[tuple[Memory, UUID | None]], note: str) -> Iterator[MemoryVersion]:
    for memory, successor in batch:
        version = memory.as_version()
        version.note, version.superseded_by = note, successor
        yield version


def _made(id_: UUID) -> datetime.datetime:
    """When the memory was made, which its id says: the newest are told first, also where they came in together."""
    now = timezone.now()
    if id_.version != 7:  # noqa: PLR2004 - as RFC 9562 numbers them
        return now
    return min(now, datetime.datetime.fromtimestamp((id_.int >> 80) / 1000, datetime.UTC))


def _supersede(owner: Owner, successors: Mapping[UUID | None, UUID | None], ids: Mapping[UUID | None, UUID]) -> None:
    """Now that all are there, say which superseded which."""
    named = {id_: ids.get(successor, successor) for id_, successor in successors.items() if successor}
    there = set(memories_of(owner).filter(id__in=set(named.values())).values_list("id", flat=True))
    rows = list(memories_of(owner).filter(id__in=list(named)).only("id", "superseded_by"))
    for row in rows:
        row.superseded_by_id = named[row.id] if named[row.id] in there else None
    _refuse_circles({row.id: row.superseded_by_id for row in rows})
    Memory.objects.bulk_update(rows, ["superseded_by"], batch_size=BATCH_ROWS)


def _refuse_circles(successors: Mapping[UUID, UUID | None]) -> None:
    done = set[UUID]()
    for first in successors:
        path, id_ = set[UUID](), first
        while id_ in successors and id_ not in done:
            if id_ in path:
                raise Invalid("superseded_by", CIRCLE)
            path.add(id_)
            following = successors[id_]
            if following is None:
                break
            id_ = following
        done |= path


@transaction.atomic
def memory_take(*, change: Change, principal: Principal, note: str) -> None:
    """Make the memory that is here what the change says. Raises StaleVersion, NotFound, Invalid and Forbidden."""
    id_, values, successor = change.item
    current = locked(Memory(id=id_))
    if current.version != change.version:
        raise StaleVersion(current, change.version)
    require_changeable(principal, current)
    says_something_else = values["text"] != current.text
    for name, value in values.items():
        setattr(current, name, value)
    current.superseded_by = _successor(current, successor)
    current.version += 1
    current.signed_by(principal.author)
    if says_something_else:
        give_directions([current])
    current.save()
    version = current.as_version()
    version.note = note
    version.save(force_insert=True)


def _successor(memory: Memory, id_: UUID | None) -> Memory | None:
    """The memory that supersedes this one; None where there is none of that id. Raises Invalid."""
    owned: dict[str, Any] = {"agent": memory.agent_id, "team": memory.team_id}
    first = following = Memory.objects.filter(id=id_, **owned).first() if id_ else None
    seen = {memory.id}
    while following is not None:
        if following.id in seen:
            raise Invalid("superseded_by", CIRCLE)
        seen.add(following.id)
        following = following.superseded_by
    return first
