"""The embedder is changed in steps, while everything stays in use; each can be repeated after an interruption.

A change fills the free slot with vectors of the new embedder, builds the vector index of memories for that slot, and
switches to the slot. Afterwards the other slot can be emptied. One process at a time changes the embedder, under an
advisory lock that PostgreSQL releases when the process ends. Each slot has its own index, partial on the embedder's
name. Only the database's owner may build it; CREATE INDEX CONCURRENTLY blocks no writer but scans the table twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from django.db import OperationalError, transaction
from django.dispatch import Signal
from psycopg import sql
from psycopg.errors import LockNotAvailable

from config.db.partitions.definition import Index
from config.db.partitions.partition_indexes import INDEX_MEMORY_SQL, build_concurrently, drop_concurrently
from config.db.statements import execute_sql, fetch_rows
from config.http.errors import DossierError
from memories.embeddings.active_model import CHANGE_LOCK, EmbeddingModel, read_active_model
from memories.embeddings.backfill import EMBEDDED_MODELS, Advance, fill_vectors, rows_without_vector
from memories.embeddings.base import MAX_DIMENSIONS, Embedder
from memories.models import EmbeddingSpace

embedder_switched = Signal()  # sender: EmbeddingSpace; model: the name of the embedder that is in use now


class EmbedderChangeRefused(DossierError):
    """Raised where the embedder cannot be changed to this one, or not now. Nothing was switched."""

    status = 409
    code = "embedder_not_changed"
    title = "The embedder was not changed"


REEMBED_LOCK = 7_301_002
"""The number of an advisory lock, held by a database session of the owner role."""
PATIENCE_SECONDS = 5.0
"""Time to wait for the lock: PostgreSQL needs a moment to notice that a process was killed."""
POLL_SECONDS = 0.2


@contextmanager
def reembedding_lock() -> Iterator[None]:
    """Hold the lock that only one process can have, to change the embedder.

    Raises EmbedderChangeRefused where another process holds the lock.
    """
    execute_sql(END_WITH_CLIENT_SQL, using="owner")
    until = monotonic() + PATIENCE_SECONDS
    while fetch_rows(TRY_LOCK_SQL, [REEMBED_LOCK], using="owner") != [(True,)]:
        if monotonic() > until:
            raise EmbedderChangeRefused(
                "Another process is changing the embedder. Wait for its end; see `reembed --status`."
            )
        sleep(POLL_SECONDS)
    try:
        yield
    finally:
        execute_sql(UNLOCK_SQL, [REEMBED_LOCK], using="owner")


# A long statement, such as CREATE INDEX, is to end with the process that sent it.
END_WITH_CLIENT_SQL = "SET client_connection_check_interval = '1s'"
TRY_LOCK_SQL = "SELECT pg_try_advisory_lock(%s)"
UNLOCK_SQL = "SELECT pg_advisory_unlock(%s)"

# Half precision finds the same rows, and the index is a third smaller.
INDEX_SQL = """
USING hnsw (({slot}::halfvec({dimensions})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
    WHERE {model_column} = {model}
"""
INDEX_IS_VALID_SQL = """
SELECT indisvalid AND obj_description(indexrelid, 'pg_class') = %s
FROM pg_index WHERE indexrelid = to_regclass(%s)
"""


def index_name(slot: str) -> str:
    """Return the name of the vector index of the slot."""
    return f"memory_{slot}_meaning"


def build_index(space: EmbeddingModel) -> None:
    """Build the vector index of memories for the embedding model `space`, unless it exists, and ANALYZE the table."""
    name = index_name(space.slot)
    if fetch_rows(INDEX_IS_VALID_SQL, [space.model, name], using="owner") != [(True,)]:
        names = {
            "slot": sql.Identifier(space.slot),
            "model_column": sql.Identifier(space.model_column),
            "dimensions": sql.Literal(space.dimensions),
            "model": sql.Literal(space.model),
        }
        execute_sql(INDEX_MEMORY_SQL, using="owner")
        drop_index(space.slot)
        # The comment comes last: it marks the index as complete, and names its embedder.
        index = Index(name, sql.SQL(INDEX_SQL).format(**names).as_string(), comment=space.model)
        build_concurrently(index, "memories")
    execute_sql("ANALYZE memories", using="owner")


def drop_index(slot: str) -> None:
    """Drop the vector index of the slot, if it has one."""
    drop_concurrently(index_name(slot))


BATCH_ROWS = 1_000

CLEAR_SQL = """
UPDATE {table} SET {slot} = NULL, {slot}_model = '' WHERE id IN (
    SELECT id FROM {table} WHERE {slot}_model <> '' ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
)
"""


def clear_other_slot(advance: Advance) -> None:
    """Empty the slot that is not in use, and drop its index. An unfinished change of the embedder is given up."""
    slot = read_active_model().free_slot
    EmbeddingSpace.objects.update(next_model="", next_dimensions=None)
    drop_index(slot)
    for model in EMBEDDED_MODELS:
        while model._default_manager.exclude(**{f"{slot}_model": ""}).exists():  # noqa: SLF001
            advance(execute_sql(CLEAR_SQL.format(table=model._meta.db_table, slot=slot), [BATCH_ROWS]))  # noqa: SLF001


MAX_MISSING_ROWS = 50
"""The switch embeds at most this many remaining rows, because all writers of vectors wait for it."""
PATIENCE_MS = 500
"""Time to wait for the lock that writers hold; meanwhile, new writers wait behind the switch."""


def begin_change(embedder: Embedder) -> EmbeddingModel:
    """Record that a change to the embedder has begun, and return the embedding model to fill, in the free slot.

    Raises EmbedderChangeRefused for the embedder that is in use or whose vectors cannot be indexed, and EmbedderFailed.
    """
    active = read_active_model()
    if embedder.name == active.model:
        raise EmbedderChangeRefused(f"{embedder.name} is in use already.")
    if (dimensions := embedder.dimensions) > MAX_DIMENSIONS:
        raise EmbedderChangeRefused(
            f"{embedder.name} has {dimensions:,} dimensions; {MAX_DIMENSIONS:,} can be indexed. Use another model."
        )
    EmbeddingSpace.objects.update(next_model=embedder.name, next_dimensions=dimensions)
    return EmbeddingModel(embedder.name, dimensions, active.free_slot)


def count_missing(space: EmbeddingModel) -> int:
    """Return how many rows have no vector of this embedding model yet."""
    return sum(rows_without_vector(model, space).count() for model in EMBEDDED_MODELS)


def fill_all(space: EmbeddingModel, advance: Advance) -> None:
    """Embed rows without a vector of the model `space`, except rows that are being changed. Raises EmbedderFailed."""
    for model in EMBEDDED_MODELS:
        fill_vectors(rows_without_vector(model, space), space, advance)


def switch_model(space: EmbeddingModel) -> bool:
    """Make `space` the active embedding model, and return whether it is active now.

    It is not while more than MAX_MISSING_ROWS rows lack its vectors, or while rows or the lock are held by others.
    Readers do not wait. Writers of vectors wait while the last rows are embedded.
    """
    try:
        with transaction.atomic():
            _lock_out_writers()
            if not _complete(space):
                return False
            EmbeddingSpace.objects.update(
                model=space.model, dimensions=space.dimensions, slot=space.slot, next_model="", next_dimensions=None
            )
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    if read_active_model() != space:
        return False
    embedder_switched.send(sender=EmbeddingSpace, model=space.model)
    return True


def _lock_out_writers() -> None:
    execute_sql(
        f"SET LOCAL lock_timeout = {PATIENCE_MS}; SELECT pg_advisory_xact_lock({CHANGE_LOCK});"
        " SET LOCAL lock_timeout TO DEFAULT"
    )


def _complete(space: EmbeddingModel) -> bool:
    for model in EMBEDDED_MODELS:
        rows = rows_without_vector(model, space)
        if len(rows.values_list("pk")[: MAX_MISSING_ROWS + 1]) > MAX_MISSING_ROWS:
            return False
        fill_vectors(rows, space, lambda _: None)
        if rows.exists():
            return False
    return True
