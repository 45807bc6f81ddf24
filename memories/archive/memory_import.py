"""This module compares an archive's memories with the owner's, and imports the new and changed ones with their ids."""

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from config.db.statements import lock_until_commit
from config.http.errors import Invalid
from config.keys.sealed_texts import MARK
from memories.archive.digests import ImportState, state_of
from memories.archive.memory_markdown import (
    ArchivedMemory,
    exported_columns,
    external_id_of,
    iterate_memories,
    memory_digest,
    memory_summary,
    memory_values_digest,
)
from memories.archive.owner_entries import ROWS_PER_STATEMENT, with_kept_level
from memories.archive.sections import ImportChange, ImportContext, ImportUnit
from memories.embeddings.active_model import SLOTS
from memories.embeddings.vectors import embed_rows
from memories.imports.base import MAX_LINES_CHARACTERS, ImportRefused
from memories.imports.workspace import MEMORY_FILE
from memories.models import Memory, MemoryVersion
from memories.services import BATCH_ROWS, Owner, memories_of
from memories.services.announcements import announce_in_reach, announce_texts
from memories.services.authorship import require_changeable
from memories.services.memory import owner_of
from teams.level_changes import record_level, require_level
from teams.origin import Origin
from teams.principal import Author, Principal
from teams.secret_scanning.handling import require_no_secret, storable_text
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import StaleVersion, author_of_text, lock_row

IDS_LOCK = 7_301_010
"""The number of an advisory lock, held while ids from an archive are looked for and stored."""
CIRCULAR = "A memory cannot be superseded by itself, directly or in a circle. Correct `superseded_by` in the archive."


@transaction.atomic
def memories_import(*, owner: Owner, changes: Sequence[ImportChange], import_context: ImportContext) -> None:
    """Store the changes that are new memories of the owner, in batches, each with its first version."""
    ids = _free_ids([change.item[0] for change in changes])
    for start in range(0, len(changes), BATCH_ROWS):
        batch = [
            _new_memory(owner, change, ids, import_context.principal.author)
            for change in changes[start : start + BATCH_ROWS]
        ]
        for memory, _ in batch:
            require_level(import_context.principal, memory, memory.sensitivity)
        _insert(batch, import_context.note)
        import_context.advance(len(batch))
    _supersede(owner, {ids.get(change.item[0], change.item[0]): change.item[2] for change in changes}, ids)


def _free_ids(ids: Sequence[UUID | None]) -> dict[UUID | None, UUID]:
    """Return the ids under which memories are stored: new ids for those that already exist, the same ids for others."""
    wanted = [id_ for id_ in ids if id_]
    taken = set[UUID]()
    if wanted:  # two imports of one archive wait for each other: in a divided table, ids are unique per partition
        lock_until_commit(IDS_LOCK)
    for start in range(0, len(wanted), BATCH_ROWS):
        rows = Memory.everything.filter(id__in=wanted[start : start + BATCH_ROWS])
        taken |= set(rows.values_list("id", flat=True))
    return {id_: uuid7() if id_ in taken else id_ for id_ in wanted}


def _new_memory(
    owner: Owner, change: ImportChange, ids: Mapping[UUID | None, UUID], author: Author
) -> tuple[Memory, UUID | None]:
    """Return an unsaved memory that nothing supersedes yet, and the id of the memory that is to supersede it."""
    id_, values, successor = change.item
    memory = Memory(id=ids.get(id_) or uuid7(), **values)
    memory.text = storable_text(memory.text, owner)  # the comment above a bullet may hold it in escaped characters
    memory.retired_because = storable_text(memory.retired_because, owner, "archive_reason")
    require_no_secret(memory.external_id, owner, "external_id")
    memory.agent, memory.team = (owner, None) if isinstance(owner, Agent) else (None, owner)
    if id_ and memory.id != id_:
        memory.external_id = memory.external_id or f"memory:{id_}"
    memory.signed_by(author)
    return memory, ids.get(successor, successor)


def _insert(batch: Sequence[tuple[Memory, UUID | None]], note: str) -> None:
    memories = [memory for memory, _ in batch]
    embed_rows(memories)
    Memory.objects.bulk_create(memories)
    MemoryVersion.objects.bulk_create(_versions(batch, note))
    for memory in memories:
        memory.created = _created_at(memory.id)
    Memory.objects.bulk_update(memories, ["created"])
    announce_texts(memories)


def _versions(batch: Sequence[tuple[Memory, UUID | None]], note: str) -> Iterator[MemoryVersion]:
    for memory, successor in batch:
        version = memory.as_version()
        version.note, version.superseded_by = note, successor
        yield version


def _created_at(id_: UUID) -> datetime.datetime:
    """Return the time when the memory was created, which a UUIDv7 contains; the current time for another id.

    Recent memories come first in contexts, so memories that are imported together need their own times.
    """
    now = timezone.now()
    if id_.version != 7:  # noqa: PLR2004 - as RFC 9562 numbers them
        return now
    return min(now, datetime.datetime.fromtimestamp((id_.int >> 80) / 1000, datetime.UTC))


def _supersede(owner: Owner, successors: Mapping[UUID | None, UUID | None], ids: Mapping[UUID | None, UUID]) -> None:
    """Set the successors of new memories, after all of them are stored. Raises Invalid for a circle."""
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
                raise Invalid("superseded_by", CIRCULAR)
            path.add(id_)
            following = successors[id_]
            if following is None:
                break
            id_ = following
        done |= path


@transaction.atomic
def memory_import(*, change: ImportChange, principal: Principal, note: str) -> None:
    """Save the change as a new version of an existing memory. A new text is trusted no more than its author, and no
    more than the archive says.

    Raises StaleVersion, NotFound, Invalid and Forbidden.
    """
    id_, values, successor = change.item
    current = lock_row(Memory(id=id_))
    if current.version != change.version:
        raise StaleVersion(current, change.version)
    require_changeable(principal, current)
    require_level(principal, current, values.get("sensitivity"))
    old_level = current.sensitivity
    owner = owner_of(current)
    values = {**values, "text": storable_text(values["text"], owner)}
    if "retired_because" in values:
        values["retired_because"] = storable_text(values["retired_because"], owner, "archive_reason")
    says_something_else = values["text"] != current.text
    stood, day = current.stands, current.occurred_at
    author = principal.author.limited_to(values.pop("origin", Origin.PERSON))
    if says_something_else:
        author = author_of_text(author, MemoryVersion.objects.filter(file=current), values["text"])
    for name, value in values.items():
        setattr(current, name, value)
    current.superseded_by = _successor(current, successor)
    current.version += 1
    current.signed_by(author, rewritten=says_something_else)
    if is_embedded := says_something_else or not current.is_searched:
        embed_rows([current])
    current.save()
    version = current.as_version()
    version.note = note
    version.save(force_insert=True)
    record_level(principal, current, old_level)
    if says_something_else:
        announce_texts([current])
    elif is_embedded or (current.stands and not stood) or current.occurred_at != day:
        announce_in_reach(Memory, [current.id])


def _successor(memory: Memory, id_: UUID | None) -> Memory | None:
    """Return the owner's memory with this id, the successor; None where there is none. Raises Invalid for a circle."""
    owned: dict[str, Any] = {"agent": memory.agent_id, "team": memory.team_id}
    first = following = Memory.objects.filter(id=id_, **owned).first() if id_ else None
    seen = {memory.id}
    while following is not None:
        if following.id in seen:
            raise Invalid("superseded_by", CIRCULAR)
        seen.add(following.id)
        following = following.superseded_by
    return first


DUPLICATED_COMMENT = "Remove the comment to create a new memory, or remove the bullet."


@dataclass(frozen=True, slots=True)
class IncomingMemory:
    """A memory of an archive (`kept`), and the owner's memory that it corresponds to (`here`), if there is one."""

    kept: ArchivedMemory
    here: Memory | None

    @property
    def key(self) -> str:
        """The name of the memory in the import plan: its id, or its external id."""
        return str(self.kept.id or external_id_of(self.kept))

    @property
    def values(self) -> Mapping[str, Any]:
        """The column values to store. A memory matched by another id keeps the external id of the stored one. An import
        raises the sensitivity of a stored memory, and never lowers it.
        """
        if self.here is not None:
            own = {"sensitivity": max(self.here.sensitivity, self.kept.values["sensitivity"])}
            if self.here.id != self.kept.id:
                own["external_id"] = self.here.external_id
            return {**self.kept.values, **own}
        if self.here is None and not self.kept.id:
            return {**self.kept.values, "external_id": external_id_of(self.kept)}
        return self.kept.values


def memory_changes(unit: ImportUnit, owner: Owner | None) -> Iterator[ImportChange]:
    """Yield the changes that importing the unit's MEMORY.md would make; `owner` is None if it does not exist yet."""
    if MEMORY_FILE not in unit.files:
        return
    name = unit.path(MEMORY_FILE)
    try:
        kept = list(iterate_memories(unit.contents.text(unit.files[MEMORY_FILE], MAX_LINES_CHARACTERS), name))
    except ImportRefused as fault:
        yield ImportChange(name=name, what="memory", state=ImportState.REFUSED, reason=fault.detail)
        return
    once = {external_id_of(memory): memory for memory in reversed(kept)}
    yield from _duplicate_changes(unit, kept, once)
    wanted = [IncomingMemory(memory, None) for memory in reversed(once.values())]
    if owner:
        wanted = [found for batch in _batches(wanted) for found in _match_existing(owner, batch)]
    ids = {one.kept.id: one.here.id if one.here else one.kept.id for one in wanted if one.kept.id}
    there = _existing_ids(owner, {one.kept.superseded_by for one in wanted} - ids.keys() - {None})
    for one in wanted:
        successor = one.kept.superseded_by and ids.get(one.kept.superseded_by, there.get(one.kept.superseded_by))
        yield _change(unit, one, successor)


def _duplicate_changes(
    unit: ImportUnit, kept: Sequence[ArchivedMemory], once: Mapping[str, ArchivedMemory]
) -> Iterator[ImportChange]:
    """Yield a refusal for each bullet with the same id as an earlier one: it was copied together with its comment."""
    for memory in kept:
        if memory.id and memory is not once[external_id_of(memory)]:
            reason = f"{memory.where}: the comment above it names a memory that is further up. {DUPLICATED_COMMENT}"
            name = unit.path(f"{MEMORY_FILE}/{memory.where.rpartition(' ')[2]}")
            yield ImportChange(
                name=name, what="memory", state=ImportState.REFUSED, after=memory.values["text"], reason=reason
            )


def _batches(wanted: Sequence[IncomingMemory]) -> Iterator[Sequence[IncomingMemory]]:
    return (wanted[start : start + ROWS_PER_STATEMENT] for start in range(0, len(wanted), ROWS_PER_STATEMENT))


def _match_existing(owner: Owner, batch: Sequence[IncomingMemory]) -> Iterator[IncomingMemory]:
    """Yield the memories of the batch, each with the owner's memory that it corresponds to.

    They are matched by id, by external id or, for bullets without a comment, by kind and text.
    """
    ids = {one.kept.id for one in batch if one.kept.id}
    names = {external_id_of(one.kept) for one in batch} | {f"memory:{id_}" for id_ in ids}
    rows = memories_of(owner).filter(Q(id__in=ids) | Q(external_id__in=names)).defer(*SLOTS, "search")
    by_id, by_name = {row.id: row for row in rows}, {row.external_id: row for row in rows if row.external_id}
    by_text = _existing_by_text(owner, [one.kept for one in batch if not one.kept.id])
    for one in batch:
        own = by_id.get(one.kept.id) if one.kept.id else None
        copied = by_name.get(f"memory:{one.kept.id}") if one.kept.id else None
        here = own or copied or by_name.get(external_id_of(one.kept))
        alike = by_text.get((one.kept.values["kind"], one.kept.values["text"])) if not here else None
        yield IncomingMemory(_with_existing_values(one.kept, alike), alike) if alike else replace(one, here=here)


def _existing_by_text(owner: Owner, written: Sequence[ArchivedMemory]) -> dict[tuple[str, str], Memory]:
    """Return the owner's memories that have the text of a bullet without a comment, by kind and text."""
    texts = [memory.values["text"] for memory in written]
    if not texts:
        return {}
    # The text of a memory that is not hot is not in its column, or sealed, but its current version has the hash.
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    packed = Q(text__isnull=True) | Q(text__startswith=MARK)
    packed &= Q(versions__version=F("version"), versions__sha256__in=hashes)
    rows = memories_of(owner).filter(Q(text__in=texts) | Q(id__in=memories_of(owner).filter(packed).values("id")))
    return {(row.kind, row.text): row for row in rows.defer(*SLOTS, "search").order_by("-id")}


def _with_existing_values(kept: ArchivedMemory, here: Memory) -> ArchivedMemory:
    """Return the memory with the stored memory's id and values, because its bullet has no comment that says others."""
    values = {name: getattr(here, name) for name in exported_columns() if name != "superseded_by"}
    return replace(kept, id=here.id, values=values, superseded_by=here.superseded_by_id)


def _existing_ids(owner: Owner | None, ids: set[Any]) -> dict[UUID, UUID]:
    """Return those of the ids that belong to memories of the owner, mapped to themselves; others are ignored."""
    if not owner or not ids:
        return {}
    return {id_: id_ for id_ in memories_of(owner).filter(id__in=ids).values_list("id", flat=True)}


def _change(unit: ImportUnit, wanted: IncomingMemory, successor: UUID | None) -> ImportChange:
    here, values = wanted.here, wanted.values
    exported = wanted.kept.mark if here and here.id == wanted.kept.id else ""
    mark = memory_digest(here) if here else None
    incoming = memory_values_digest(values, successor)
    state = state_of(exported=exported, incoming=incoming, here=mark)
    if here and state is ImportState.NEWER and _raised_digest(here, values["sensitivity"]) == incoming:
        state = ImportState.CHANGED  # it was lowered here, and nothing else differs
    after = Memory(**values, superseded_by_id=successor)
    change = ImportChange(
        name=unit.path(f"{MEMORY_FILE}/{wanted.key}"),
        what="memory",
        state=state,
        version=here.version if here else 0,
        before=memory_summary(here) if here else "",
        after=memory_summary(after),
        item=(here.id if here else wanted.kept.id, values, successor),
    )
    said = wanted.kept.values["sensitivity"]
    is_kept = here is not None and said < min(here.sensitivity, Sensitivity.RESTRICTED)
    return with_kept_level(change, said, here.sensitivity) if here and is_kept else change


def _raised_digest(memory: Memory, level: int) -> str:
    """Return the digest that the memory would have with this sensitivity."""
    raised = copy(memory)
    raised.sensitivity = level
    return memory_digest(raised)
