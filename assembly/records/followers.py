"""Followers process new assemblies in the background: seals, counts of trends, alerts.

Each record adds a row to the queue `new_assemblies`. One worker at a time takes the rows in order, passes the
assemblies to every follower and deletes the rows, all in one transaction, so that each follower processes each assembly
exactly once, even after a crash. Assemblies on which a follower failed are counted, shown, and tried again on request.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from uuid_utils.compat import uuid7

from assembly.models import Assembly, FollowFailure
from assembly.records.pruning import records_prune
from assembly.records.seals import try_lock_chain
from assembly.records.unused_keys import unused_keys_destroy
from config.db.statements import execute_sql, fetch_rows
from config.keys.key_errors import KeysUnavailable
from memories.jobs.periodic import periodic
from teams.readings.expired_lines import activities_prune, readings_prune

Follower = Callable[[Sequence[Assembly]], None]
"""A function called with new assemblies, oldest first; it writes through the default connection, in the open
transaction.

If it raises, the transaction is rolled back, and it is called with the same assemblies again.
"""

followers: list[Follower] = []
"""The followers, in the order in which they are called. Apps register theirs when they are ready."""

# Ids grow with time, so the least id is the oldest assembly; only that one's row is read.
QUEUE_SQL = """
WITH queue AS (
    SELECT assembly, coalesce(parked, false) AS parked FROM new_assemblies LEFT JOIN follow_failures USING (assembly)
), oldest AS (SELECT assembly FROM queue WHERE NOT parked ORDER BY assembly LIMIT 1)
SELECT count(*) FILTER (WHERE NOT parked), count(*) FILTER (WHERE parked), coalesce(extract(epoch FROM
    clock_timestamp() - (SELECT created FROM assemblies WHERE id = (SELECT assembly FROM oldest))), 0)::float8
FROM queue
"""


@dataclass(frozen=True, slots=True)
class FollowQueue:
    """The state of the queue: how many assemblies wait, how many are parked for a retry, and the longest wait."""

    waiting: int
    parked: int
    oldest_seconds: float


def queue_status() -> FollowQueue:
    """Return the current state of the queue; one query."""
    ((waiting, parked, seconds),) = fetch_rows(QUEUE_SQL)
    return FollowQueue(waiting, parked, max(0.0, seconds))


MAX_BATCH = 5
"""Failures after which an assembly is tried alone instead of with others."""
MAX_ERROR_CHARACTERS = 2_000

# An assembly that was tried alone has the failures of its batches in the table already, so that it is parked.
NOTE_FAILURE_SQL = """
INSERT INTO follow_failures (assembly, attempts, error, at, parked)
    SELECT one, 1, %(error)s, %(now)s, false FROM unnest(%(ids)s) AS one
    ON CONFLICT (assembly) DO UPDATE SET attempts = follow_failures.attempts + 1, error = excluded.error,
        at = excluded.at, parked = follow_failures.attempts >= %(together)s
"""


@transaction.atomic
def failures_note(ids: Sequence[UUID], error: Exception) -> None:
    """Record one more failure of the followers for each of these assemblies."""
    text = f"{type(error).__name__}: {error}".replace("\0", "")[:MAX_ERROR_CHARACTERS]
    execute_sql(NOTE_FAILURE_SQL, {"ids": sorted(ids), "error": text, "now": timezone.now(), "together": MAX_BATCH})


def failures_forget(ids: Sequence[UUID]) -> None:
    """Delete the recorded failures of these assemblies, because the followers succeeded."""
    FollowFailure.objects.filter(assembly__in=ids).delete()


def parked_failures() -> QuerySet[FollowFailure]:
    """Return the failures that are parked until a retry is requested, newest first."""
    return FollowFailure.objects.filter(parked=True).order_by("-at", "-assembly")


def failures_retry() -> int:
    """Return all parked assemblies to the queue for a retry. Returns their number."""
    return FollowFailure.objects.filter(parked=True).update(parked=False, at=timezone.now())


MAX_TAKEN = 500
"""Most assemblies that one transaction passes to the followers."""
LAST_ID = UUID(int=2**128 - 1)
"""The greatest possible id of an assembly."""

# Ids are UUIDv7, so their order is the order in which the assemblies were made.
TAKE_SQL = """
SELECT assembly FROM new_assemblies LEFT JOIN follow_failures USING (assembly)
    WHERE coalesce(attempts, 0) < %(together)s AND assembly <= %(newest)s ORDER BY assembly LIMIT %(most)s
    FOR UPDATE OF new_assemblies SKIP LOCKED
"""
TAKE_ALONE_SQL = """
SELECT assembly FROM new_assemblies JOIN follow_failures USING (assembly)
    WHERE attempts >= %(together)s AND assembly <= %(newest)s AND NOT parked ORDER BY assembly LIMIT 1
    FOR UPDATE OF new_assemblies SKIP LOCKED
"""
DELETE_SQL = "DELETE FROM new_assemblies WHERE assembly = ANY(%(ids)s)"

logger = logging.getLogger(__name__)


def new_assemblies_follow(newest: UUID = LAST_ID) -> int:
    """Pass the oldest new assemblies, up to the id `newest`, to all followers. Returns how many were processed.

    0 means that there are none, that another worker is processing them, or that a follower failed. After a failure, the
    next call tries the same assemblies again; after five failures, each is tried alone and parked if it fails.
    """
    taken: list[UUID] = []
    try:
        with transaction.atomic():
            if try_lock_chain():
                taken = _take_assemblies(TAKE_SQL, newest) or _take_assemblies(TAKE_ALONE_SQL, newest)
                _hand_over(taken)
    except KeysUnavailable:  # which is no fault of these assemblies: they wait until the key store is back
        logger.exception("what follows %d new assemblies waits for the key store", len(taken))
        return 0
    except Exception as error:
        if not taken:
            raise
        logger.exception("what follows %d new assemblies failed, from %s on", len(taken), taken[0])
        failures_note(taken, error)
        return 0
    return len(taken)


def _take_assemblies(statement: str, newest: UUID) -> list[UUID]:
    rows = fetch_rows(statement, {"together": MAX_BATCH, "most": MAX_TAKEN, "newest": newest})
    return [id_ for (id_,) in rows]


def _hand_over(taken: Sequence[UUID]) -> None:
    if not taken:
        return
    found = Assembly.objects.in_bulk(list(taken))
    assemblies = [found[id_] for id_ in taken if id_ in found]
    for follow in followers:
        follow(assemblies)
    failures_forget(taken)
    execute_sql(DELETE_SQL, {"ids": list(taken)})


FOLLOW_SECONDS = 5
PRUNE_SECONDS = 3_600


@periodic(FOLLOW_SECONDS, "follow")
def follow() -> None:
    """Pass all assemblies that are new at the start to the followers; later ones wait for the next run.

    A batch of a few takes as long as a batch of many, so waiting is cheaper.
    """
    newest = uuid7()
    while new_assemblies_follow(newest):
        pass


@periodic(PRUNE_SECONDS, "prune")
def prune() -> None:
    """Delete all records, and lines of both logs, whose retention time is over, and keys of what is gone."""
    records_prune()
    unused_keys_destroy()
    readings_prune()
    activities_prune()
