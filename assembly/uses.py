"""Which contexts considered a memory: told in some, left out of others. Decisions are rows, found by their ref."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet, UUIDField
from django.db.models.expressions import RawSQL

from assembly.models import Assembly, Decision
from memories.models import Memory
from teams.principal import Principal

MOST = 1_000
"""So many of the newest are listed and counted: what is pinned is in every context."""

# Those that repeat another one have their decisions there.
USERS = """
WITH decided AS MATERIALIZED (SELECT DISTINCT assembly_id FROM decisions WHERE ref = ANY(%s))
SELECT assembly_id FROM decided
UNION ALL
SELECT assemblies.id FROM decided JOIN assemblies ON decided_in = assembly_id
"""


@dataclass(frozen=True, slots=True)
class Use:
    """What a context decided about a memory: of several places, about one where it is told."""

    told: bool
    code: str
    ref: str
    """With the version that was considered."""


@dataclass(frozen=True, slots=True)
class Uses:
    """Of the contexts that considered a memory and that somebody may see, the newest."""

    contexts: QuerySet[Assembly]
    decided: Mapping[UUID, Use]
    """By the id of the context."""

    @property
    def told(self) -> int:
        """In so many it was told."""
        return sum(use.told for use in self.decided.values())

    @property
    def left_out(self) -> int:
        """Of so many it was left out."""
        return len(self.decided) - self.told

    @property
    def may_be_more(self) -> bool:
        """Whether there may be older ones that are not counted."""
        return len(self.decided) >= MOST


def uses_of(memory: Memory, principal: Principal) -> Uses:
    """The contexts that considered any version of the memory and that the principal may see; two queries."""
    refs = [f"memory:{memory.id}@{version}" for version in range(1, memory.version + 1)]
    users = RawSQL(USERS, [refs], output_field=UUIDField())  # noqa: S611 - a constant
    newest = Assembly.objects.visible_to(principal).filter(id__in=users).order_by("-id").values_list("id", "decided_in")
    decided_in = {id_: elsewhere or id_ for id_, elsewhere in newest[:MOST]}
    decided = _decided(refs, set(decided_in.values()))
    contexts = Assembly.objects.filter(id__in=decided_in).defer("profile", "sections", "sources", "request")
    return Uses(contexts, {id_: decided[where] for id_, where in decided_in.items() if where in decided})


def _decided(refs: Sequence[str], assemblies: set[UUID]) -> dict[UUID, Use]:
    """What was decided about the refs, by assembly."""
    rows = Decision.objects.filter(assembly__in=assemblies, ref__in=refs).order_by("included", "-position")
    # The last of an assembly stays: one that is told, where there is one.
    return {
        assembly: Use(included, code, ref)
        for assembly, included, code, ref in rows.values_list("assembly_id", "included", "code", "ref")
    }
