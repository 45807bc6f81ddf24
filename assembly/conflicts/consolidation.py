"""A step of the lifecycle run merges memories that say the same; a person can separate them again."""

import datetime
from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from assembly.models import Conflict, ConflictKind
from config.http.errors import DossierError
from memories.embeddings.active_model import SLOTS
from memories.lifecycle.hourly_run import LifecycleRun
from memories.models import Memory, MemoryVersion
from memories.services import MergeRequest, memories_merge, owner_of
from teams.principal import SYSTEM

MIN_SIMILARITY = 0.97
"""Duplicates of at least this cosine are merged; those below are left for a person."""
MAX_PAIRS, MAX_TRIED = 500, 5_000
"""The number of pairs that a run merges, and of those that it tries: some cannot be merged."""
PAIRS_PER_REPORT = 50


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


def _owner(item: str) -> Subquery:
    """Return the id of the agent or team whose memory is on a side of the conflict."""
    return Subquery(Memory.objects.filter(id=OuterRef(item)).values(owner=Coalesce("agent_id", "team_id")))


def _moment(item: str) -> Subquery:
    """Return when that happened of which the memory on a side of the conflict speaks; null if nobody said."""
    return Subquery(Memory.objects.filter(id=OuterRef(item)).values("occurred_at"))


def _was_merged(kept: str, other: str) -> Exists:
    """Return whether a version of the memory on the one side took the place of that on the other."""
    return Exists(MemoryVersion.objects.filter(file_id=OuterRef(kept), merged__contains=[OuterRef(other)]))
