"""A step of the lifecycle run merges memories that say the same; a person can separate them again."""

import datetime
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.dispatch import receiver
from django.utils import timezone

from assembly.conflicts.services import conflict_decision_store
from assembly.conflicts.sides import side_texts
from assembly.models import Conflict, ConflictKind, ConflictResolution
from assembly.monitoring.alerts.watch import alerts_lock
from config.http.errors import DossierError
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.hourly_run import LifecycleRun
from memories.models import Memory, MemoryVersion
from memories.services import MergeRequest, memories_merge, owner_of
from memories.services.announcements import memories_separated
from teams.principal import SYSTEM, Principal

MIN_SIMILARITY = 0.97
"""Duplicates of at least this cosine are merged; those below are left for a person."""
MAX_PAIRS, MAX_TRIED = 500, 5_000
"""The number of pairs that a run merges, and of those that it tries: some cannot be merged."""
PAIRS_PER_REPORT = 50
WERE_SEPARATED = "The memories were merged, and separated again."


def consolidate_duplicates(run: LifecycleRun) -> None:
    """Merge each pair of memories of one owner that are known as duplicates, and report what was merged into what.

    The more credible one stays, of equal ones the older. A pair that was merged before, and separated by a person, is
    left alone.
    """
    started, merged, total = timezone.now(), dict[str, str](), 0
    try:
        for left, right in _pairs():
            kept, other = sorted((left, right), key=lambda one: (-one.credibility, one.created, one.id))
            versions = {kept.id: kept.version, other.id: other.version}
            try:
                memories_merge(owner=owner_of(kept), merging=MergeRequest(kept.id, versions), principal=SYSTEM)
            except DossierError:
                continue  # somebody changed one of them meanwhile, or its text cannot be read now
            merged[f"memory:{other.id}"] = f"memory:{kept.id}"
            total += 1
            run.advance(0)
            if len(merged) >= PAIRS_PER_REPORT:
                _report(run, started, merged)
                merged = {}
            if total >= MAX_PAIRS:
                break
    finally:
        if merged:
            _report(run, started, merged)


def _report(run: LifecycleRun, started: datetime.datetime, merged: dict[str, str]) -> None:
    run.report("consolidate", list(merged), started, {"merged_into": merged})


def _pairs() -> Iterator[tuple[Memory, Memory]]:
    """Yield the pairs that may be merged, the one that was found first first, as they are now.

    Both memories have one owner, and the same moment or none: what was said of two moments happened twice.
    """
    rows = Conflict.objects.waiting().filter(
        ~_was_merged("left_item", "right_item"),
        ~_was_merged("right_item", "left_item"),
        kind=ConflictKind.DUPLICATE,
        similarity__gte=MIN_SIMILARITY,
        model="",
        left_ref__startswith="memory:",
        right_ref__startswith="memory:",
    )
    same_owner = rows.annotate(left_owner=_owner("left_item"), right_owner=_owner("right_item")).filter(
        left_owner=F("right_owner")
    )
    dated = same_owner.annotate(left_moment=_moment("left_item"), right_moment=_moment("right_item"))
    same_moment = dated.filter(Q(left_moment=F("right_moment")) | Q(left_moment=None, right_moment=None))
    items = list(same_moment.order_by("found", "id").values_list("left_item", "right_item")[:MAX_TRIED])
    for left, right in items:
        pair = Memory.objects.select_related("agent", "team").defer(*SLOTS, "text").in_bulk([left, right])
        if left in pair and right in pair and all(memory.stands for memory in pair.values()):
            yield pair[left], pair[right]


@receiver(memories_separated)
def keep_separated(*, kept: Memory, others: Sequence[Memory], principal: Principal, **_: Any) -> None:
    """Store that both texts hold of each duplicate between memories that were separated.

    So they are not merged again, also where an archive of them is imported. Memories that are merged into one of those
    that were separated belong to it.
    """
    merged_into = {id_: root.id for root in (kept, *others) for id_ in _with_merged(root)}
    found = Conflict.objects.resolvable_by(principal).filter(
        kind=ConflictKind.DUPLICATE, resolution="", left_item__in=merged_into, right_item__in=merged_into
    )
    if not found.exists():
        return
    alerts_lock()
    rows = [one for one in found.order_by("id") if merged_into[one.left_item] != merged_into[one.right_item]]
    sides = side_texts(rows)
    for conflict in rows:
        if all(side.is_current for side in sides[conflict.id]):
            conflict_decision_store(
                conflict=conflict, resolution=ConflictResolution.BOTH, reason=WERE_SEPARATED, principal=principal
            )


def _with_merged(memory: Memory) -> set[UUID]:
    """Return the ids of the memory and of all that were merged into it, also by way of others."""
    found, newest = set[UUID](), {memory.id}
    while newest:
        found |= newest
        newest = set(Memory.objects.filter(superseded_by__in=newest).values_list("id", flat=True)) - found
    return found


def _owner(item: str) -> Subquery:
    """Return the id of the agent or team whose memory is on a side of the conflict."""
    return Subquery(Memory.objects.filter(id=OuterRef(item)).values(owner=Coalesce("agent_id", "team_id")))


def _moment(item: str) -> Subquery:
    """Return when that happened of which the memory on a side of the conflict speaks; null if nobody said."""
    return Subquery(Memory.objects.filter(id=OuterRef(item)).values("occurred_at"))


def _was_merged(kept: str, other: str) -> Exists:
    """Return whether a version of the memory on the one side took the place of that on the other."""
    return Exists(MemoryVersion.objects.filter(file_id=OuterRef(kept), merged__contains=[OuterRef(other)]))
