"""Taking new assemblies from the queue, in order, by one worker at a time."""

import logging
from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction

from assembly.afterwards import followers
from assembly.afterwards.failures import MOST_TOGETHER, failures_forget, failures_note
from assembly.models import Assembly
from assembly.seals.turn import chain_is_ours

MOST_TAKEN = 500
"""Assemblies that one transaction hands to the followers."""
LAST = UUID(int=2**128 - 1)
"""An id that comes after all others."""

# Ids are UUIDv7: their order is that in which the assemblies were made.
TAKE = """
SELECT assembly FROM new_assemblies LEFT JOIN follow_failures USING (assembly)
    WHERE coalesce(attempts, 0) < %(together)s AND assembly <= %(newest)s ORDER BY assembly LIMIT %(most)s
    FOR UPDATE OF new_assemblies SKIP LOCKED
"""
TAKE_ALONE = """
SELECT assembly FROM new_assemblies JOIN follow_failures USING (assembly)
    WHERE attempts >= %(together)s AND assembly <= %(newest)s AND NOT parked ORDER BY assembly LIMIT 1
    FOR UPDATE OF new_assemblies SKIP LOCKED
"""
DONE = "DELETE FROM new_assemblies WHERE assembly = ANY(%(ids)s)"

logger = logging.getLogger(__name__)


def new_assemblies_follow(newest: UUID = LAST) -> int:
    """Hand the oldest new assemblies, up to that one, to all followers. Returns how many were done.

    0: there are none, another worker is at it, or a follower failed. Then the same ones are tried again at the next
    call, after five failures each by itself, and what fails alone is parked.
    """
    taken: list[UUID] = []
    try:
        with transaction.atomic():
            if chain_is_ours():
                taken = _taken(TAKE, newest) or _taken(TAKE_ALONE, newest)
                _hand_over(taken)
    except Exception as error:
        if not taken:
            raise
        logger.exception("what follows %d new assemblies failed, from %s on", len(taken), taken[0])
        failures_note(taken, error)
        return 0
    return len(taken)


def _taken(statement: str, newest: UUID) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"together": MOST_TOGETHER, "most": MOST_TAKEN, "newest": newest})
        return [id_ for (id_,) in cursor.fetchall()]


def _hand_over(taken: Sequence[UUID]) -> None:
    if not taken:
        return
    found = Assembly.objects.in_bulk(list(taken))
    assemblies = [found[id_] for id_ in taken if id_ in found]
    for follow in followers:
        follow(assemblies)
    failures_forget(taken)
    with connection.cursor() as cursor:
        cursor.execute(DONE, {"ids": list(taken)})
