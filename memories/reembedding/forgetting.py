"""Emptying the slot that is not in use: of the former embedder, or of a change that is not to be finished."""

from django.db import connection

from memories.filling import DIRECTED, Advance
from memories.models import EmbeddingSpace
from memories.reembedding.meaning_index import index_dropped
from memories.spaces import active_space

BATCH_ROWS = 1_000

EMPTY = """
UPDATE {table} SET {slot} = NULL, {slot}_model = '' WHERE id IN (
    SELECT id FROM {table} WHERE {slot}_model <> '' ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
)
"""


def forget_other(advance: Advance) -> None:
    """Empty the slot and drop its index. A change that was begun is given up."""
    slot = active_space().other_slot
    EmbeddingSpace.objects.update(next_model="", next_dimensions=None)
    index_dropped(slot)
    for model in DIRECTED:
        while model._default_manager.exclude(**{f"{slot}_model": ""}).exists():  # noqa: SLF001
            advance(_emptied(EMPTY.format(table=model._meta.db_table, slot=slot)))  # noqa: SLF001


def _emptied(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, [BATCH_ROWS])
        return int(cursor.rowcount)
