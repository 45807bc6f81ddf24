"""This module deletes lines of the log of readings whose time is over."""

import logging

from django.conf import settings

from config.db.statements import fetch_rows

BATCH = 10_000
PRUNE_SQL = "SELECT prune_readings(%s, %s)"

logger = logging.getLogger(__name__)


def readings_prune() -> int:
    """Delete the lines that are older than READINGS_DAYS, and return their number."""
    pruned, last = 0, BATCH
    while last == BATCH:
        ((last,),) = fetch_rows(PRUNE_SQL, [settings.READINGS_DAYS, BATCH])
        pruned += last
    if pruned:
        logger.info("readings pruned", extra={"lines": pruned})
    return pruned
