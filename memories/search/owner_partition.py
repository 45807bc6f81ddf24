"""Where memories are divided by owner, statements about one owner name the partition by its column `owner_id`.

Rows that are older than that column have it empty until the table is divided, so statements name it only afterwards. A
statement that does not, because its process has not noticed yet, reads the same rows from all partitions.

The most frequent statements of a search read the partition itself: to lock all of them, and to choose among them,
takes as long as a tenth of the search. Its name is known by the oid of the table, so a copy of the past is never
mistaken for it.

Where tables are distributed (see `config.db.distribution`), statements name the owner of every row that they read, by
the same column or by `agent_id`: the workers with other owners' rows are not asked then.
"""

from uuid import UUID

from django.conf import settings

from config.caching.process_cache import ProcessCache
from config.db.distribution.distributed_tables import DISTRIBUTED_BY_NAME

IS_DIVIDED_SQL = "(SELECT relkind = 'p' FROM pg_class WHERE oid = 'memories'::regclass)"
"""Whether the table that a statement calls `memories` is divided; a copy of the past is not."""

MEMORIES = "memories"
PARTITION_SQL = """(
    SELECT tableoid::regclass::text FROM memories WHERE {owner} = %(owner)s AND owner_id = %(owner)s
    ORDER BY coalesce(occurred_at, created) DESC LIMIT 1
)"""
"""The name of the partition with the owner's rows, by an index of them; NULL where the owner has none."""
UNASKED = "NULL::text"
MAX_CACHE_BYTES = 4_000_000
ENTRY_BYTES = 400
"""Approximate bytes of memory of a partition's name with its key."""

_partitions = ProcessCache[UUID, tuple[int, str]]("owner_partitions", MAX_CACHE_BYTES, lambda _: ENTRY_BYTES)


class _Noticed:
    """What the newest search of this process noticed."""

    is_divided = False


def notice_division(is_divided: bool) -> None:
    """Remember whether the table of memories is divided, as a statement with IS_DIVIDED_SQL says."""
    _Noticed.is_divided = is_divided


def partition_sql(column: str, owner: UUID) -> str:
    """Return the SQL expression for the partition with the memories of this owner, whose id `column` holds; for NULL if
    this process knows it, or if there are none.
    """
    return UNASKED if not _Noticed.is_divided or owner in _partitions else PARTITION_SQL.format(owner=column)


def notice_partition(owner: UUID, table: int, partition: str | None) -> None:
    """Remember the name of the partition that a statement with `partition_sql` returned; `table` is the oid of what was
    called `memories` then. A copy of the past has no partitions, but the name of the table.
    """
    if partition is not None and partition != MEMORIES:
        _partitions.put(owner, (table, partition))


def partition_of(owner: UUID, table: int) -> str:
    """Return what a statement reads as the table `memories` to find the rows of this owner: its partition, or the table
    where that is not divided, or the partition is not known.

    `table` is the oid of what is called `memories` now.
    """
    kept = _partitions.get(owner) if _Noticed.is_divided else None
    return f"{kept[1]} AS {MEMORIES}" if kept and kept[0] == table else MEMORIES


def read_from(partition: str) -> dict[str, str]:
    """Return what to put into SQL about the memories of one owner: the table as `{memories}`, and `{within}`.

    `partition` is as `partition_of` returns it.
    """
    return {"memories": partition, "within": within()["within"] if partition == MEMORIES else ""}


def is_divided_sql() -> str:
    """Return the SQL expression for a statement about memories; where they are distributed, one without the catalogue,
    which is the coordinator's.
    """
    return "false" if settings.DATABASE_DISTRIBUTED else IS_DIVIDED_SQL


def within() -> dict[str, str]:
    """Return the conditions to put into SQL about the memories of one owner, after the one on the owner's column.

    `{within}` is for the table `memories`, `{joined_within}` for it as `m`; both are empty where it is not divided.
    """
    return {"within": within_partition_of("owner"), "joined_within": within_partition_of("owner", "m.")}


def within_partition_of(parameter: str, row: str = "") -> str:
    """Return the condition, with AND before it, for the owner whose id is this parameter; empty where neither divided
    nor distributed.
    """
    is_named = _Noticed.is_divided or settings.DATABASE_DISTRIBUTED
    return f" AND {row}owner_id = %({parameter})s" if is_named else ""


def within_shard_of(parameter: str, *rows: str) -> str:
    """Return the conditions, each with AND before it, by which the rows are of the agent whose id is this parameter;
    empty where tables are not distributed. `rows` are names of tables in the statement.
    """
    if not settings.DATABASE_DISTRIBUTED:
        return ""
    return "".join(f" AND {row}.agent_id = %({parameter})s" for row in rows)


def stays_on_coordinator(table: str) -> bool:
    """Return whether tables are distributed, and this one is not."""
    return settings.DATABASE_DISTRIBUTED and table not in DISTRIBUTED_BY_NAME
