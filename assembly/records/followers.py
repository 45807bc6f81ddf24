"""Followers do what need not keep the caller of an assembly waiting: seals, counts of trends, alerts.

Each record leaves a row in the queue `new_assemblies`. One worker at a time takes the rows in order, hands their
assemblies to every follower and deletes the rows, all in one transaction: so each follower sees each assembly exactly
once, whatever dies meanwhile. Assemblies on which a follower failed are counted, shown, and tried again on request.
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
from config.db.statements import execute_sql, fetch_rows
from memories.jobs.periodic import periodic

Follower = Callable[[Sequence[Assembly]], None]
"""Told of assemblies that became visible, the oldest first; writes by the default connection, in the open transaction.

One that raises has not seen them: it is told of them again.
"""

followers: list[Follower] = []
"""In the order in which they are told. Apps register theirs when they are ready."""

# An id says when its assembly was made, so the least is the oldest; what it was made of needs no look.
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
    """So many wait, the oldest for so many seconds; so many are left alone until somebody asks for another try."""

    waiting: int
    parked: int
    oldest_seconds: float


def queue_status() -> FollowQueue:
    """As it stands, in one query."""
    ((waiting, parked, seconds),) = fetch_rows(QUEUE_SQL)
    return FollowQueue(waiting, parked, max(0.0, seconds))


MAX_BATCH = 5
"""Failures after which an assembly is not tried together with others any more."""
MAX_ERROR_CHARACTERS = 2_000

# What was tried alone is in the table already, with the failures of its batch: then it is parked.
NOTE_FAILURE_SQL = """
INSERT INTO follow_failures (assembly, attempts, error, at, parked)
    SELECT one, 1, %(error)s, %(now)s, false FROM unnest(%(ids)s) AS one
    ON CONFLICT (assembly) DO UPDATE SET attempts = follow_failures.attempts + 1, error = excluded.error,
        at = excluded.at, parked = follow_failures.attempts >= %(together)s
"""


@transaction.atomic
def failures_note(ids: Sequence[UUID], error: Exception) -> None:
    """That it failed for these once more."""
    text = f"{type(error).__name__}: {error}".replace("\0", "")[:MAX_ERROR_CHARACTERS]
    execute_sql(NOTE_FAILURE_SQL, {"ids": sorted(ids), "error": text, "now": timezone.now(), "together": MAX_BATCH})


def failures_forget(ids: Sequence[UUID]) -> None:
    """It did not fail for these in the end."""
    FollowFailure.objects.filter(assembly__in=ids).delete()


def parked_failures() -> QuerySet[FollowFailure]:
    """What is left alone until somebody asks for another try, the newest first."""
    return FollowFailure.objects.filter(parked=True).order_by("-at", "-assembly")


def failures_retry() -> int:
    """Try everything again that was left alone. Returns how many these are."""
    return FollowFailure.objects.filter(parked=True).update(parked=False, at=timezone.now())


MAX_TAKEN = 500
"""Assemblies that one transaction hands to the followers."""
LAST_ID = UUID(int=2**128 - 1)
"""An id that comes after all others."""

# Ids are UUIDv7: their order is that in which the assemblies were made.
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
    """Hand the oldest new assemblies, up to that one, to all followers. Returns how many were done.

    0: there are none, another worker is at it, or a follower failed. Then the same ones are tried again at the next
    call, after five failures each by itself, and what fails alone is parked.
    """
    taken: list[UUID] = []
    try:
        with transaction.atomic():
            if try_lock_chain():
                taken = _take_assemblies(TAKE_SQL, newest) or _take_assemblies(TAKE_ALONE_SQL, newest)
                _hand_over(taken)
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
    """All that are new now. What comes meanwhile is left for the next time: a few at once cost as much as many."""
    newest = uuid7()
    while new_assemblies_follow(newest):
        pass


@periodic(PRUNE_SECONDS, "prune")
def prune() -> None:
    """All whose time is over."""
    records_prune()
