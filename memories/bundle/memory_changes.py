"""Memories in an archive: how each stands to the one that the owner has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Q

from memories.bundle.marks import State, state_of
from memories.bundle.memory_reading import KeptMemory, memories_in
from memories.bundle.memory_values import columns, mark_of_memory, mark_of_values, memory_said
from memories.bundle.owners import ROWS_PER_STATEMENT
from memories.bundle.rooms import Change, Unit
from memories.importing import MAX_LINES_CHARACTERS, ImportRefused
from memories.memory_lines import external_id_of
from memories.models import Memory
from memories.services import Owner, memories_of
from memories.spaces import SLOTS
from memories.workspace_folder import MEMORY_FILE

COPIED = "Remove the comment to make it a memory of its own, or remove the bullet."


@dataclass(frozen=True, slots=True)
class Wanted:
    """A memory as it is to be: its values, and what supersedes it, by the ids of the archive."""

    kept: KeptMemory
    here: Memory | None

    @property
    def key(self) -> str:
        """What names it in the plan."""
        return str(self.kept.id or external_id_of(self.kept))

    @property
    def values(self) -> Mapping[str, Any]:
        """By the columns. What was found by another id than its own keeps the id that it has elsewhere."""
        if self.here is not None and self.here.id != self.kept.id:
            return {**self.kept.values, "external_id": self.here.external_id}
        if self.here is None and not self.kept.id:
            return {**self.kept.values, "external_id": external_id_of(self.kept)}
        return self.kept.values


def memory_changes(unit: Unit, owner: Owner | None) -> Iterator[Change]:
    """What importing the unit's MEMORY.md would do for the owner; None: one that is not there yet."""
    if MEMORY_FILE not in unit.files:
        return
    name = unit.path(MEMORY_FILE)
    try:
        kept = list(memories_in(unit.contents.text(unit.files[MEMORY_FILE], MAX_LINES_CHARACTERS), name))
    except ImportRefused as fault:
        yield Change(name=name, what="memory", state=State.REFUSED, reason=fault.detail)
        return
    once = {external_id_of(memory): memory for memory in reversed(kept)}
    yield from _repeated(unit, kept, once)
    wanted = [Wanted(memory, None) for memory in reversed(once.values())]
    if owner:
        wanted = [found for batch in _batches(wanted) for found in _found(owner, batch)]
    ids = {one.kept.id: one.here.id if one.here else one.kept.id for one in wanted if one.kept.id}
    there = _there(owner, {one.kept.superseded_by for one in wanted} - ids.keys() - {None})
    for one in wanted:
        successor = one.kept.superseded_by and ids.get(one.kept.superseded_by, there.get(one.kept.superseded_by))
        yield _change(unit, one, successor)


def _repeated(unit: Unit, kept: Sequence[KeptMemory], once: Mapping[str, KeptMemory]) -> Iterator[Change]:
    """Bullets that were copied together with their comment: which of them is meant, nobody can tell."""
    for memory in kept:
        if memory.id and memory is not once[external_id_of(memory)]:
            reason = f"{memory.where}: the comment above it names a memory that stands further up. {COPIED}"
            name = unit.path(f"{MEMORY_FILE}/{memory.where.rpartition(' ')[2]}")
            yield Change(name=name, what="memory", state=State.REFUSED, after=memory.values["text"], reason=reason)


def _batches(wanted: Sequence[Wanted]) -> Iterator[Sequence[Wanted]]:
    return (wanted[start : start + ROWS_PER_STATEMENT] for start in range(0, len(wanted), ROWS_PER_STATEMENT))


def _found(owner: Owner, batch: Sequence[Wanted]) -> Iterator[Wanted]:
    """The same, each with the memory of the owner that it stands for."""
    ids = {one.kept.id for one in batch if one.kept.id}
    names = {external_id_of(one.kept) for one in batch} | {f"memory:{id_}" for id_ in ids}
    rows = memories_of(owner).filter(Q(id__in=ids) | Q(external_id__in=names)).defer(*SLOTS, "search")
    by_id, by_name = {row.id: row for row in rows}, {row.external_id: row for row in rows if row.external_id}
    by_text = _said_alike(owner, [one.kept for one in batch if not one.kept.id])
    for one in batch:
        own = by_id.get(one.kept.id) if one.kept.id else None
        copied = by_name.get(f"memory:{one.kept.id}") if one.kept.id else None
        here = own or copied or by_name.get(external_id_of(one.kept))
        alike = by_text.get((one.kept.values["kind"], one.kept.values["text"])) if not here else None
        yield Wanted(_as_here(one.kept, alike), alike) if alike else replace(one, here=here)


def _said_alike(owner: Owner, written: Sequence[KeptMemory]) -> dict[tuple[str, str], Memory]:
    """The owner's memories that say the same as these bullets without a comment: they are no new ones."""
    texts = [memory.values["text"] for memory in written]
    rows = memories_of(owner).filter(text__in=texts).defer(*SLOTS, "search").order_by("-id") if texts else ()
    return {(row.kind, row.text): row for row in rows}


def _as_here(kept: KeptMemory, here: Memory) -> KeptMemory:
    """The memory with all that its bullet does not say, as it is here."""
    values = {name: getattr(here, name) for name in columns() if name != "superseded_by"}
    return replace(kept, id=here.id, values=values, superseded_by=here.superseded_by_id)


def _there(owner: Owner | None, ids: set[Any]) -> dict[UUID, UUID]:
    """Those of the ids that are of the owner's memories; an archive may name others, which count as nothing."""
    if not owner or not ids:
        return {}
    return {id_: id_ for id_ in memories_of(owner).filter(id__in=ids).values_list("id", flat=True)}


def _change(unit: Unit, wanted: Wanted, successor: UUID | None) -> Change:
    here, values = wanted.here, wanted.values
    exported = wanted.kept.mark if here and here.id == wanted.kept.id else ""
    mark = mark_of_memory(here) if here else None
    state = state_of(exported=exported, incoming=mark_of_values(values, successor), here=mark)
    after = Memory(**values, superseded_by_id=successor)
    return Change(
        name=unit.path(f"{MEMORY_FILE}/{wanted.key}"),
        what="memory",
        state=state,
        version=here.version if here else 0,
        before=memory_said(here) if here else "",
        after=memory_said(after),
        item=(here.id if here else wanted.kept.id, values, successor),
    )
