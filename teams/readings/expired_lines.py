"""This module deletes lines of the log of readings, and of that of administrative acts, whose time is over."""

import logging

from django.conf import settings

from config.db.statements import fetch_rows

BATCH = 10_000
PRUNE_READINGS_SQL = "SELECT prune_readings(%s, %s)"
PRUNE_ACTIVITIES_SQL = "SELECT prune_activities(%s, %s)"

logger = logging.getLogger(__name__)


def readings_prune() -> int:
    """Delete the lines that are older than READINGS_DAYS, and return their number."""
    pruned = _pruned(PRUNE_READINGS_SQL, settings.READINGS_DAYS)
    if pruned:
        logger.info("readings pruned", extra={"lines": pruned})
    return pruned


def activities_prune() -> int:
    """Delete the entries of the activity log that are older than ACTIVITIES_DAYS, and return their number."""
    pruned = _pruned(PRUNE_ACTIVITIES_SQL, settings.ACTIVITIES_DAYS)
    if pruned:
        logger.info("activities pruned", extra={"entries": pruned})
    return pruned


def _pruned(statement: str, days: int) -> int:
    """Return how many rows the function of the statement deletes, batch by batch."""
    pruned, last = 0, BATCH
    while last == BATCH:
        ((last,),) = fetch_rows(statement, [days, BATCH])
        pruned += last
    return pruned
