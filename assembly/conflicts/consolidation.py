"""A step of the lifecycle run merges memories that say the same; a person can separate them again."""

from uuid import UUID

from django.utils import timezone

from assembly.models import Conflict, ConflictKind
from config.http.errors import DossierError
from memories.lifecycle.hourly_run import LifecycleRun
from memories.models import Memory, MemoryVersion
from memories.services import MergeRequest, memories_merge, owner_of
from teams.principal import SYSTEM

MIN_SIMILARITY = 0.97
"""Duplicates of at least this cosine are merged; those below are left for a person."""
MAX_PAIRS = 500


def consolidate_duplicates(run: LifecycleRun) -> None:
    """Merge each pair of memories of one owner that are known as duplicates, and report what was merged into what.

    The more credible one stays, of equal ones the older. A pair that was merged before, and separated by a person, is
    left alone.
    """
    started, merged = timezone.now(), dict[str, str]()
    for left, right in _pairs():
        kept, other = sorted((left, right), key=lambda one: (-one.credibility, one.created, one.id))
        if MemoryVersion.objects.filter(file__in=[kept, other], merged__overlap=[kept.id, other.id]).exists():
            continue
        versions = {kept.id: kept.version, other.id: other.version}
        try:
            memories_merge(owner=owner_of(kept), merging=MergeRequest(kept.id, versions), principal=SYSTEM)
        except DossierError:
            continue  # somebody changed one of them meanwhile
        merged[f"memory:{other.id}"] = f"memory:{kept.id}"
        run.advance(0)
    if merged:
        run.report("consolidate", list(merged), started, {"merged_into": merged})


def _pairs() -> list[tuple[Memory, Memory]]:
    rows = Conflict.objects.waiting().filter(kind=ConflictKind.DUPLICATE, similarity__gte=MIN_SIMILARITY, model="")
    sides = [row.sides for row in rows.order_by("found", "id")[:MAX_PAIRS]]
    wanted: list[tuple[UUID, UUID]] = [
        (left.item, right.item) for left, right in sides if left.kind == right.kind == "memory"
    ]
    found = Memory.objects.select_related("agent", "team").in_bulk({id_ for pair in wanted for id_ in pair})
    pairs = [(found[left], found[right]) for left, right in wanted if left in found and right in found]
    return [pair for pair in pairs if _same_owner(*pair) and all(memory.stands for memory in pair)]


def _same_owner(left: Memory, right: Memory) -> bool:
    return (left.agent_id, left.team_id) == (right.agent_id, right.team_id)
