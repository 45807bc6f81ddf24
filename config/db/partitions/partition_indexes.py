"""Indexes of divided tables are built partition by partition: PostgreSQL cannot do so concurrently by itself."""

from collections.abc import Sequence

from psycopg import sql

from config.db.partitions.definition import Index
from config.db.partitions.divided_tables import OWNER, is_divided, leaves
from config.db.statements import execute_sql, fetch_rows

# The build of an index of vectors is much faster while the graph fits into this memory; parallel workers would share
# it in /dev/shm, which is small in containers.
INDEX_MEMORY_SQL = "SET maintenance_work_mem = '256MB'; SET max_parallel_maintenance_workers = 0"
IS_VALID_SQL = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
INDEXES_SQL = "SELECT indexrelid::regclass::text, indisvalid FROM pg_index WHERE indrelid = %s::regclass"
ATTACHED_SQL = """
SELECT EXISTS (SELECT FROM pg_inherits WHERE inhparent = %s::regclass AND inhrelid = %s::regclass)
"""


PARTS_SQL = """
SELECT inhrelid::regclass::text, indrelid::regclass::text FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
WHERE inhparent = %s::regclass
"""
WHOLE_SQL = """
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent WHERE inhrelid = to_regclass(quote_ident(%s))
"""


def whole_index(name: str) -> str:
    """Return the name of the index of a divided table, from that of its part in one partition, as errors name it.

    The name of any other index, or of none, is returned as it is.
    """
    found = fetch_rows(WHOLE_SQL, [name])
    return str(found[0][0]) if found else name


def name_by_partition(index: str, name: str) -> None:
    """Let the parts of the divided index have this name, with the number of their partition."""
    for part, partition in fetch_rows(PARTS_SQL, [index], using=OWNER):
        names = map(sql.Identifier, (part, f"{name}_{partition.rpartition('_')[2]}"))
        execute_sql(sql.SQL("ALTER INDEX {} RENAME TO {}").format(*names).as_string(), using=OWNER)


def build_index(index: Index, table: str, name: str, partitions: Sequence[str], *, concurrently: bool = False) -> int:
    """Build the index on the divided table under this name; return how many partitions lacked it.

    An interrupted build is continued. Concurrently, others may write the table meanwhile.
    """
    if not fetch_rows(IS_VALID_SQL, [name], using=OWNER):
        execute_sql(index.on(table, name, only=True).as_string(), using=OWNER)
    built = 0
    for partition in partitions:
        own = f"{index.name}_{partition.rpartition('_')[2]}"
        valid = fetch_rows(IS_VALID_SQL, [own], using=OWNER)
        if valid == [(False,)]:
            execute_sql(f"DROP INDEX {own}", using=OWNER)
        if valid != [(True,)]:
            execute_sql(index.on(partition, own, concurrently=concurrently).as_string(), using=OWNER)
            built += 1
        if fetch_rows(ATTACHED_SQL, [name, own], using=OWNER) == [(False,)]:
            attach = sql.SQL("ALTER INDEX {} ATTACH PARTITION {}").format(sql.Identifier(name), sql.Identifier(own))
            execute_sql(attach.as_string(), using=OWNER)
    _comment(name, index.comment)
    return built


def build_concurrently(index: Index, table: str) -> None:
    """Build the index while others write the table, whether or not it is divided. It must not exist."""
    if is_divided(table):
        build_index(index, table, index.name, leaves(table), concurrently=True)
    else:
        execute_sql(index.on(table, index.name, concurrently=True).as_string(), using=OWNER)
        _comment(index.name, index.comment)


def drop_concurrently(name: str) -> None:
    """Drop the index, if there is one. That of a divided table is dropped at once, which locks the table shortly."""
    divided = fetch_rows("SELECT relkind = 'I' FROM pg_class WHERE oid = to_regclass(%s)", [name], using=OWNER)
    how = "" if divided == [(True,)] else "CONCURRENTLY "
    execute_sql(f"DROP INDEX {how}IF EXISTS {name}", using=OWNER)


def _comment(name: str, comment: str) -> None:
    if comment:
        statement = sql.SQL("COMMENT ON INDEX {} IS {}").format(sql.Identifier(name), sql.Literal(comment))
        execute_sql(statement.as_string(), using=OWNER)


def has_all_indexes(table: str, names: Sequence[str]) -> bool:
    """Return whether the table has valid indexes of exactly these names."""
    rows = fetch_rows(
        "SELECT indexrelid::regclass::text, indisvalid FROM pg_index WHERE indrelid = %s::regclass",
        [table],
        using=OWNER,
    )
    return all(valid for _, valid in rows) and {name for name, _ in rows} == {*names}
