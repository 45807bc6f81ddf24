"""Usage lists the contexts for agents that considered a memory: those that included it and those that left it out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from assembly.engine.codes import Code
from assembly.models import Assembly, Piece
from assembly.records.encoding import positions_of
from memories.models import Memory
from teams.principal import Principal

MAX_CONTEXTS = 1_000
"""So many of the newest are listed and counted: what is pinned is in every context."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What a context decided about a memory: of several places, about one where it is told."""

    told: bool
    code: str
    ref: str
    """With the version that was considered."""


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """Of the contexts that considered a memory and that somebody may see, the newest."""

    contexts: QuerySet[Assembly]
    refs: Mapping[int, str]
    """By the ids of the memory's pieces."""
    told: int
    """In so many it was told."""
    left_out: int
    """Of so many it was left out."""

    @property
    def has_more(self) -> bool:
        """Whether there may be older ones that are not counted."""
        return self.told + self.left_out >= MAX_CONTEXTS

    def decisions_by_context(self, contexts: Sequence[Assembly]) -> dict[UUID, MemoryUse]:
        """What each of the contexts decided, by its id; one query."""
        wanted = {context.decided_in or context.id for context in contexts}
        source_context = Assembly.objects.filter(id__in=wanted).in_bulk()
        return {context.id: self._in(source_context[context.decided_in or context.id]) for context in contexts}

    def _in(self, source_context: Assembly) -> MemoryUse:
        ids, columns = [*source_context.told, *source_context.omitted], source_context.contents["decisions"]
        found = positions_of(columns, {place for place, id_ in enumerate(ids) if id_ in self.refs})
        best = next((at for at in found if Code(columns["code"][at]).included), found[0])
        code = Code(columns["code"][best])
        return MemoryUse(code.included, code.value, self.refs[ids[columns["piece"][best]]])


def memory_uses(memory: Memory, principal: Principal) -> MemoryUses:
    """The contexts that considered any version of the memory and that the principal may see; three queries."""
    refs = dict(Piece.objects.filter(named=f"memory:{memory.id}").values_list("id", "ref"))
    newest = _considering_contexts(refs, principal).order_by("-id").values_list("id", flat=True)[:MAX_CONTEXTS]
    contexts = Assembly.objects.filter(id__in=[*newest])
    counts = contexts.aggregate(told=Count("id", filter=Q(told__overlap=[*refs])), all=Count("id"))
    return MemoryUses(contexts.listed(), refs, counts["told"], counts["all"] - counts["told"])


def _considering_contexts(pieces: Collection[int], principal: Principal) -> QuerySet[Assembly]:
    ids = [*pieces]
    return Assembly.objects.for_agents().visible_to(principal).filter(Q(told__overlap=ids) | Q(omitted__overlap=ids))
