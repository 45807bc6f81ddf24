"""The index on the meaning of memories, one for each slot, of the rows whose vectors are of one embedder.

Only the database's owner may build it. It is built beside all that goes on, which takes two looks at the table.
"""

from django.db import connections
from psycopg import sql

from memories.spaces import Space

# Of half the precision: it finds the same and takes two thirds of the room.
CREATE = """
CREATE INDEX CONCURRENTLY {index} ON memories
    USING hnsw (({slot}::halfvec({dimensions})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)
    WHERE {model_column} = {model}
"""
# Until its graph is larger than this, building it takes a fraction of the time. Workers would share the graph in
# /dev/shm, which containers keep small.
ROOM = "SET maintenance_work_mem = '256MB'; SET max_parallel_maintenance_workers = 0"
BUILT = """
SELECT indisvalid AND obj_description(indexrelid, 'pg_class') = %s
FROM pg_index WHERE indexrelid = to_regclass(%s)
"""


def index_name(slot: str) -> str:
    """Of the slot's index."""
    return f"memory_{slot}_meaning"


def index_built(space: Space) -> None:
    """Build the index of the space's slot for its embedder, unless it is there whole, and tell the planner of it."""
    name = index_name(space.slot)
    with connections["owner"].cursor() as cursor:
        cursor.execute(BUILT, [space.model, name])
        if cursor.fetchone() != (True,):
            names = {
                "index": sql.Identifier(name),
                "slot": sql.Identifier(space.slot),
                "model_column": sql.Identifier(space.model_column),
                "dimensions": sql.Literal(space.dimensions),
                "model": sql.Literal(space.model),
            }
            cursor.execute(ROOM)
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            cursor.execute(sql.SQL(CREATE).format(**names).as_string())
            # Last of all: it says that the index was finished, and for which embedder.
            cursor.execute(sql.SQL("COMMENT ON INDEX {index} IS {model}").format(**names).as_string())
        cursor.execute("ANALYZE memories")


def index_dropped(slot: str) -> None:
    """Drop the index of the slot, if it has one."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(slot)}")
