"""What a change of the embedder is refused for.

Only one process changes the embedder. PostgreSQL frees the place when that process ends, however it ends.

The index on the meaning of memories, one for each slot, of the rows whose vectors are of one embedder.

Only the database's owner may build it. It is built beside all that goes on, which takes two looks at the table.

Emptying the slot that is not in use: of the former embedder, or of a change that is not to be finished.

The steps of a change. Each can be taken again, so whoever was interrupted begins again and goes on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from django.db import OperationalError, connections, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql
from psycopg.errors import LockNotAvailable

from config.db.statements import execute_sql
from config.http.errors import DossierError
from memories.embeddings.active_model import CHANGE_LOCK, EmbeddingModel, read_active_model
from memories.embeddings.backfill import EMBEDDED_MODELS, Advance, fill_vectors, rows_without_vector
from memories.embeddings.base import MAX_DIMENSIONS, Embedder
from memories.models import EmbeddingSpace


class EmbedderChangeRefused(DossierError):
    """The embedder cannot be changed so, or not now. Nothing was switched."""

    status = 409
    code = "embedder_not_changed"
    title = "The embedder was not changed"


REEMBED_LOCK = 7_301_002
"""An advisory lock of the owner's session."""
PATIENCE_SECONDS = 5.0
"""PostgreSQL needs a moment to see that a process was killed."""
POLL_SECONDS = 0.2


@contextmanager
def reembedding_lock() -> Iterator[None]:
    """Raises BadChange where another process is at it."""
    with connections["owner"].cursor() as cursor:
        # A long statement, as the building of an index, ends with the process that asked for it.
        cursor.execute("SET client_connection_check_interval = '1s'")
        until = monotonic() + PATIENCE_SECONDS
        while not _try_lock(cursor):
            if monotonic() > until:
                raise EmbedderChangeRefused(
                    "Another process is changing the embedder. Wait for its end; see `reembed --status`."
                )
            sleep(POLL_SECONDS)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [REEMBED_LOCK])


def _try_lock(cursor: CursorWrapper) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [REEMBED_LOCK])
    return bool(cursor.fetchone()[0])


# Of half the precision: it finds the same and takes two thirds of the room.
CREATE_INDEX_SQL = """
CREATE INDEX CONCURRENTLY {index} ON memories
    USING hnsw (({slot}::halfvec({dimensions})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
    WHERE {model_column} = {model}
"""
# Until its graph is larger than this, building it takes a fraction of the time. Workers would share the graph in
# /dev/shm, which containers keep small.
INDEX_MEMORY_SQL = "SET maintenance_work_mem = '256MB'; SET max_parallel_maintenance_workers = 0"
INDEX_IS_VALID_SQL = """
SELECT indisvalid AND obj_description(indexrelid, 'pg_class') = %s
FROM pg_index WHERE indexrelid = to_regclass(%s)
"""


def index_name(slot: str) -> str:
    """Of the slot's index."""
    return f"memory_{slot}_meaning"


def build_index(space: EmbeddingModel) -> None:
    """Build the index of the space's slot for its embedder, unless it is there whole, and tell the planner of it."""
    name = index_name(space.slot)
    with connections["owner"].cursor() as cursor:
        cursor.execute(INDEX_IS_VALID_SQL, [space.model, name])
        if cursor.fetchone() != (True,):
            names = {
                "index": sql.Identifier(name),
                "slot": sql.Identifier(space.slot),
                "model_column": sql.Identifier(space.model_column),
                "dimensions": sql.Literal(space.dimensions),
                "model": sql.Literal(space.model),
            }
            cursor.execute(INDEX_MEMORY_SQL)
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            cursor.execute(sql.SQL(CREATE_INDEX_SQL).format(**names).as_string())
            # Last of all: it says that the index was finished, and for which embedder.
            cursor.execute(sql.SQL("COMMENT ON INDEX {index} IS {model}").format(**names).as_string())
        cursor.execute("ANALYZE memories")


def drop_index(slot: str) -> None:
    """Drop the index of the slot, if it has one."""
    execute_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(slot)}", using="owner")


BATCH_ROWS = 1_000

CLEAR_SQL = """
UPDATE {table} SET {slot} = NULL, {slot}_model = '' WHERE id IN (
    SELECT id FROM {table} WHERE {slot}_model <> '' ORDER BY id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
)
"""


def clear_other_slot(advance: Advance) -> None:
    """Empty the slot and drop its index. A change that was begun is given up."""
    slot = read_active_model().free_slot
    EmbeddingSpace.objects.update(next_model="", next_dimensions=None)
    drop_index(slot)
    for model in EMBEDDED_MODELS:
        while model._default_manager.exclude(**{f"{slot}_model": ""}).exists():  # noqa: SLF001
            advance(execute_sql(CLEAR_SQL.format(table=model._meta.db_table, slot=slot), [BATCH_ROWS]))  # noqa: SLF001


MAX_MISSING_ROWS = 50
"""So many are embedded while all writers of vectors wait."""
PATIENCE_MS = 500
"""For writers that are under way. While it waits, new ones wait behind it."""


def begin_change(embedder: Embedder) -> EmbeddingModel:
    """The space to be filled for the embedder, in the slot that is free; noted, so that everybody sees the change.

    Raises BadChange for the embedder that is in use, or whose vectors are too long; EmbedderFailed.
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
    """How many rows have no vector of the space yet."""
    return sum(rows_without_vector(model, space).count() for model in EMBEDDED_MODELS)


def fill_all(space: EmbeddingModel, advance: Advance) -> None:
    """Give all rows their vectors of the space, but those that somebody is changing. Raises EmbedderFailed."""
    for model in EMBEDDED_MODELS:
        fill_vectors(rows_without_vector(model, space), space, advance)


def switch_model(space: EmbeddingModel) -> bool:
    """Whether the space is the active one now. It is not while more than a few rows lack its vectors, or are held.

    Readers wait for nothing. Writers of vectors wait while the tables are looked through and the last rows are filled.
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
    return read_active_model() == space


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
