"""What memories meant that said something else then: their vectors are made again, for nobody keeps them."""

import logging

from django.db import connection
from pgvector import Vector as Written

from memories.directions import embedded
from memories.embedders import EmbedderFailed
from memories.spaces import Space, active_space

MOST = 1_000
"""Texts that are embedded for one look into the past: about a second."""

REWORDED = "SELECT id, text FROM memories WHERE reworded ORDER BY created DESC, id LIMIT %s"
HOW_MANY = "SELECT count(*) FROM memories WHERE reworded"

logger = logging.getLogger(__name__)


def meanings_restored() -> int:
    """Give the memories of the past the vectors of what they said, within `past`. How many are without one after it.

    Those are found by their words alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(REWORDED, [MOST])
        rows = cursor.fetchall()
        if not rows:
            return 0
        cursor.execute(HOW_MANY)
        reworded: int = cursor.fetchone()[0]
    return reworded - _embed(active_space(), [id_ for id_, _ in rows], [text for _, text in rows])


def _embed(space: Space, ids: list[str], texts: list[str]) -> int:
    """How many could be embedded."""
    try:
        vectors = embedded(space, texts)
    except EmbedderFailed as error:
        logger.warning("texts of then were not embedded: %s", error)
        return 0
    written = [None if vector is None else Written(vector).to_text() for vector in vectors]
    rows = [(vector, space.model, id_) for vector, id_ in zip(written, ids, strict=True)]
    update = f"UPDATE memories SET {space.slot} = %s::vector, {space.model_column} = %s WHERE id = %s"  # noqa: S608 - names of columns alone
    with connection.cursor() as cursor:
        cursor.executemany(update, rows)
    return len(rows)
