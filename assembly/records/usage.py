"""Usage lists the contexts for agents that considered a memory, including or excluding it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assembly.engine.codes import Code
from assembly.models import Assembly, Piece
from assembly.models.assembly import EMPTIED_BODY
from assembly.records.encoding import positions_of
from memories.models import Memory
from teams.principal import Principal

MAX_CONTEXTS = 1_000
"""Most contexts that are listed and counted, the newest; a pinned memory is in every context."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A context's decision about a memory; of several decisions, one that included the memory."""

    told: bool
    code: str
    ref: str
    """Ref of the memory with the version that was considered."""


@dataclass(frozen=True, slots=True)
class MemoryUses:
    """The newest contexts that considered a memory and that the principal may see, with counts."""

    contexts: QuerySet[Assembly]
    refs: Mapping[int, str]
    """Refs of the memory's versions by the ids of their pieces."""
    told: int
    """Number of the contexts that included the memory."""
    left_out: int
    """Number of the contexts that excluded the memory."""

    @property
    def has_more(self) -> bool:
        """Whether older contexts may exist that are not counted."""
        return self.told + self.left_out >= MAX_CONTEXTS

    def decisions_by_context(self, contexts: Sequence[Assembly]) -> dict[UUID, MemoryUse]:
        """Return each context's decision about the memory, by the context's id; one query."""
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
    """Return the contexts that considered any version of the memory and that the principal may see; three queries."""
    refs = dict(Piece.objects.filter(named=f"memory:{memory.id}").values_list("id", "ref"))
    newest = _considering_contexts(refs, principal).order_by("-id").values_list("id", flat=True)[:MAX_CONTEXTS]
    contexts = Assembly.objects.filter(id__in=[*newest])
    counts = contexts.aggregate(told=Count("id", filter=Q(told__overlap=[*refs])), all=Count("id"))
    return MemoryUses(contexts.listed(), refs, counts["told"], counts["all"] - counts["told"])


def _considering_contexts(pieces: Collection[int], principal: Principal) -> QuerySet[Assembly]:
    """Return the contexts that considered one of the pieces, without those whose decisions were erased."""
    ids = [*pieces]
    found = Assembly.objects.for_agents().visible_to(principal).filter(Q(told__overlap=ids) | Q(omitted__overlap=ids))
    erased = Assembly.objects.filter(id=OuterRef("decided_in"), body=EMPTIED_BODY)
    return found.exclude(body=EMPTIED_BODY).exclude(Exists(erased))
