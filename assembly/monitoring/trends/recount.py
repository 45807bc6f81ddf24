"""Days are recounted from their records if they were never counted, or if their counts may be wrong.

Each day has a transaction of its own: an interruption loses one day at most, and the next run continues there.
"""

import datetime
from collections.abc import Iterator, Sequence
from uuid import UUID

from cachetools import LRUCache
from django.db import transaction
from django.db.models import Q, QuerySet

from assembly.models import Assembly, DayCount
from assembly.models.encryption import RecordErased
from assembly.monitoring.trends.counting import COUNTING_LOCK, CountBatch
from assembly.records.decisions_alone import load_decisions_or_errors
from assembly.records.reader import StoredAssembly
from assembly.records.recorded_quality import quality_of_record
from config.db.migration_helpers import ORGANISATION
from config.db.statements import lock_until_commit

RECORDS_PER_READ = 32
"""The number of contexts whose records are read together. Contexts of one agent share most of their pieces."""
RECORD_CACHE_SIZE = 16
"""The number of other records in memory, of any number of contexts."""


def load_with_records(assemblies: Sequence[Assembly]) -> Iterator[tuple[Assembly, StoredAssembly]]:
    """Yield each context with its decisions, or those of the context that it repeats; none whose record was erased.

    See `load_decisions_or_errors` for what they have.
    """
    cache: LRUCache[UUID, StoredAssembly | RecordErased] = LRUCache(RECORD_CACHE_SIZE)
    for start in range(0, len(assemblies), RECORDS_PER_READ):
        batch = {one: deciding_assembly(one) for one in assemblies[start : start + RECORDS_PER_READ]}
        records = {deciding: cache[deciding] for deciding in batch.values() if deciding in cache}
        unread = {deciding: one for one, deciding in batch.items() if deciding not in records}
        records.update(zip(unread, load_decisions_or_errors([*unread.values()]), strict=True))
        for assembly, deciding in batch.items():
            cache[deciding] = told = records[deciding]
            if isinstance(told, StoredAssembly):
                yield assembly, told


def deciding_assembly(assembly: Assembly) -> UUID:
    """Return the id of the context that has the decisions: its own, or that of the context that it repeats."""
    return assembly.decided_in or assembly.id


BATCH = 200
"""The number of contexts in memory at a time."""
ONE_DAY = datetime.timedelta(days=1)

# What still waits in the queue is counted when it is taken from there.
COUNTABLE = "NOT EXISTS (SELECT FROM new_assemblies WHERE assembly = assemblies.id)"


def find_recorded_days(since: datetime.date | None = None) -> Iterator[datetime.date]:
    """Yield the UTC days that have recorded contexts, the oldest first."""
    contexts = Assembly.objects.for_agents()
    rows = contexts.filter(created__gte=_start(since)) if since else contexts
    while first := rows.order_by("created", "id").values_list("created", flat=True).first():
        day = first.astimezone(datetime.UTC).date()
        yield day
        rows = contexts.filter(created__gte=_start(day + ONE_DAY))


@transaction.atomic
def day_recount(day: datetime.date, *, again: bool = False) -> int | None:
    """Recount a day's contexts. Return their number; None if the day's counts are complete already.

    With `again`, complete counts are recounted, too. Counts of more contexts than exist are not changed in any case:
    retention deleted the others. No new contexts are counted in the meantime.
    """
    lock_until_commit(COUNTING_LOCK)
    rows = _countable(day)
    recorded = rows.count()
    counted = DayCount.objects.filter(day=day, agent_id=ORGANISATION).values_list("contexts", flat=True).first() or 0
    if recorded < counted or (recorded == counted and not again):
        return None
    DayCount.objects.filter(day=day).delete()
    for batch in _batches(rows):
        counting = CountBatch()
        for assembly, told in load_with_records(batch):
            counting.add(assembly, told, quality_of_record(told))
        counting.write()
    return recorded


def _countable(day: datetime.date) -> QuerySet[Assembly]:
    start = _start(day)
    rows = Assembly.objects.for_agents().filter(created__gte=start, created__lt=start + ONE_DAY)
    return rows.extra(where=[COUNTABLE])  # noqa: S610 - a constant


def _batches(rows: QuerySet[Assembly]) -> Iterator[list[Assembly]]:
    following = rows.order_by("created", "id")
    while batch := list(following[:BATCH]):
        yield batch
        last = batch[-1]
        beyond = Q(created__gt=last.created) | Q(created=last.created, id__gt=last.id)
        following = rows.filter(beyond, created__gte=last.created).order_by("created", "id")


def _start(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time.min, tzinfo=datetime.UTC)
