"""This module fills a slot with vectors of an embedding model, for rows without one, in batches that block nobody."""

from collections.abc import Callable
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from pgvector import Vector

from config.db.statements import execute_sql
from memories.embeddings.active_model import SLOTS, EmbeddingModel, lock_active_model
from memories.embeddings.vectors import embed_texts
from memories.lifecycle.tiers import Tier, Tiered
from memories.models import Chunk, Entity, FilePassage, Memory, Tool
from memories.services.announcements import announce_in_reach

EMBEDDED_MODELS = (Memory, Chunk, FilePassage, Entity, Tool)
"""The models whose rows are found by meaning."""
BATCH_ROWS = 200

STORE_SQL = """
UPDATE {table} SET {slot} = made.vector::vector, {slot}_model = %(model)s
FROM unnest(%(ids)s::{key}[], %(vectors)s::text[]) AS made (id, vector) WHERE {table}.id = made.id
"""

Advance = Callable[[int], object]
"""A function that is called with the number of further rows that were processed."""


def rows_without_vector(model: type[Any], space: EmbeddingModel) -> QuerySet[Any]:
    """Return the rows whose vector in the slot is missing, outdated or of another embedder; cold ones have none."""
    rows: QuerySet[Any] = searched_rows(model).exclude(**{space.model_column: space.model})
    return rows


def searched_rows(model: type[Any]) -> QuerySet[Any]:
    """Return the rows of the model that search reads: all of a model whose rows are not stored in tiers."""
    rows: QuerySet[Any] = model.objects.all()
    return rows.filter(tier__in=[Tier.HOT, Tier.WARM]) if issubclass(model, Tiered) else rows


def fill_vectors(rows: QuerySet[Any], space: EmbeddingModel, advance: Advance) -> None:
    """Embed the rows with the embedding model `space`, and store the vectors in its slot, batch by batch.

    Raises EmbedderFailed; the stored batches remain.

    Rows that are being changed are skipped, so a writer waits at most while one batch is stored.
    """
    batch = list(rows.order_by("pk").defer(*SLOTS)[:BATCH_ROWS])
    while batch:
        _fill_batch(batch, space)
        advance(len(batch))
        batch = list(rows.filter(pk__gt=batch[-1].pk).order_by("pk").defer(*SLOTS)[:BATCH_ROWS])


def _fill_batch(batch: list[Any], space: EmbeddingModel) -> None:
    said = [row.said for row in batch]  # read before embedding, which takes a while
    embedded = embed_texts(space, said, [row.sensitivity for row in batch])
    made = {row.pk: (text, vector) for row, text, vector in zip(batch, said, embedded, strict=True)}
    with transaction.atomic():
        kept = lock_active_model()
        if kept.slot == space.slot and kept != space:
            return  # the slot is in use for another embedder by now
        rows = type(batch[0]).objects.filter(pk__in=made).select_for_update(no_key=True, skip_locked=True)
        unchanged = [row.pk for row in rows.defer(*SLOTS) if row.said == made[row.pk][0]]
        vectors = [made[key][1] for key in unchanged]
        _store(type(batch[0]), space, unchanged, [None if one is None else Vector(one).to_text() for one in vectors])
        if kept == space:  # search does not read the other slot
            found = [key for key, vector in zip(unchanged, vectors, strict=True) if vector is not None]
            announce_in_reach(type(batch[0]), found)


def _store(model: type[Any], space: EmbeddingModel, ids: list[Any], vectors: list[str | None]) -> None:
    names = {"table": model._meta.db_table, "key": model._meta.pk.rel_db_type(connection), "slot": space.slot}  # noqa: SLF001
    execute_sql(STORE_SQL.format(**names), {"model": space.model, "ids": ids, "vectors": vectors})
