"""Which contexts considered a memory: told in some, left out of others. Decisions are rows, found by their ref."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import BooleanField, Count, OuterRef, Q, QuerySet, Subquery, UUIDField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from assembly.models import Assembly, Decision
from memories.models import Memory
from teams.principal import Principal

# Those that repeat another one have their decisions there.
USERS = """
WITH decided AS MATERIALIZED (SELECT DISTINCT assembly_id FROM decisions WHERE ref = ANY(%s))
SELECT assembly_id FROM decided
UNION ALL
SELECT assemblies.id FROM decided JOIN assemblies ON decided_in = assembly_id
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """In how many contexts a memory was told, and of how many it was left out."""

    told: int
    left_out: int


def uses_of(memory: Memory, principal: Principal) -> QuerySet[Assembly]:
    """The contexts that considered any version of the memory and that the principal may see.

    Each says whether the memory is in it (`told`), and what was decided (`code`) about which version (`told_ref`): of
    several places, that of one where it is in.
    """
    refs = refs_of(memory)
    decided = (
        Decision.objects.filter(assembly=Coalesce(OuterRef("decided_in"), OuterRef("id")), ref__in=refs)
        .order_by("-included", "position")
        .values("included", "code", "ref")
    )
    users = RawSQL(USERS, [refs], output_field=UUIDField())  # noqa: S611 - a constant
    return (
        Assembly.objects.visible_to(principal)
        .filter(id__in=users)
        .annotate(
            told=Subquery(decided.values("included")[:1], output_field=BooleanField()),
            code=Subquery(decided.values("code")[:1]),
            told_ref=Subquery(decided.values("ref")[:1]),
        )
        .defer("profile", "sections", "sources", "request")
    )


def counts_of(uses: QuerySet[Assembly]) -> Counts:
    """How many of the contexts have it."""
    found = uses.order_by().aggregate(told_in=Count("id", filter=Q(told=True)), all=Count("id"))
    return Counts(found["told_in"], found["all"] - found["told_in"])


def refs_of(memory: Memory) -> Sequence[str]:
    """The refs of all versions that the memory ever had: decisions name one of them."""
    return [f"memory:{memory.id}@{version}" for version in range(1, memory.version + 1)]
