"""Pieces and texts that no record has any more: deleted, with the summaries of these texts.

Pruning a record notes its pieces. Most of them others have, too; these are struck off first, without keeping anybody
waiting. For the rest, records wait for as long as one look-up per piece takes.
"""

import logging
from collections.abc import Sequence

from django.db import OperationalError, connection, transaction

from assembly.models import UnusedPiece

BATCH = 200

STRIKE_OFF = """
DELETE FROM unused_pieces WHERE piece = ANY(%s) AND (
    EXISTS (SELECT FROM assemblies WHERE told @> ARRAY[piece])
    OR EXISTS (SELECT FROM assemblies WHERE omitted @> ARRAY[piece])
)
"""
PRUNE = "SELECT prune_unused(%s)"

logger = logging.getLogger(__name__)


def unused_prune() -> int:
    """Delete the noted pieces that no record has, and their texts where no other piece has these.

    Returns how many pieces went. What could not be had within two seconds, because records were being written all the
    time, stays noted for the next time.
    """
    pruned, last = 0, None
    while ids := _noted_after(last):
        pruned, last = pruned + _prune(ids), ids[-1]
    return pruned


def _noted_after(last: int | None) -> list[int]:
    noted = UnusedPiece.objects.order_by("piece")
    rows = noted if last is None else noted.filter(piece__gt=last)
    return list(rows.values_list("piece", flat=True)[:BATCH])


def _prune(ids: Sequence[int]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(STRIKE_OFF, [list(ids)])
    left = list(UnusedPiece.objects.filter(piece__in=ids).values_list("piece", flat=True))
    try:
        return _delete(left) if left else 0
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != "55P03":  # lock_not_available
            raise
        logger.warning("records are being written all the time: %d unused pieces wait for the next hour", len(left))
        return 0


def _delete(ids: Sequence[int]) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PRUNE, [list(ids)])
        ((pruned,),) = cursor.fetchall()
        return int(pruned)
