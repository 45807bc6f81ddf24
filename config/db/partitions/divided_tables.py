"""This module says which tables can be divided, by which column, and how everything is named while one is moved."""

from dataclasses import dataclass

from django.db import DatabaseError

from config.db.statements import fetch_rows

PARTITIONS = 8
"""A table gets this number of partitions, unless another one is asked for. Each owner's rows are in one of them."""
OWNER = "owner"
"""Django knows the role that owns the tables by this alias."""


@dataclass(frozen=True, slots=True)
class Divided:
    """This names a table that can be divided by hash of the column `owner`, which every insert names.

    `owner_sql` is the owner of a row whose column is still empty. `siblings` are the columns that decide it: PostgreSQL
    is told that they depend on each other, or it would expect far fewer rows where a statement compares both.
    """

    table: str
    owner: str
    owner_sql: str
    siblings: tuple[str, ...] = ()

    @property
    def moving(self) -> str:
        """Return the name of the divided table until it takes the table's place."""
        return f"{self.table}_moving"

    @property
    def changes(self) -> str:
        """Return the name of the table with the keys of rows that were written since the move began."""
        return f"{self.table}_moving_changes"

    @property
    def progress(self) -> str:
        """Return the name of the table whose one row says how far the move is."""
        return f"{self.table}_moving_progress"

    def partition(self, number: int) -> str:
        """Return the name of the partition."""
        return f"{self.table}_{number}"


MEMORIES = Divided("memories", "owner_id", "coalesce(agent_id, team_id)", ("agent_id", "team_id"))
EVENTS = Divided("events", "agent_id", "agent_id")
CHUNKS = Divided("chunks", "agent_id", "agent_id")
ASSEMBLIES = Divided("assemblies", "agent_id", "agent_id")
# Equal pieces of all owners are one row, so pieces are divided by their keys, which are hashes.
PIECES = Divided("pieces", "id", "id")
DIVIDED = {one.table: one for one in (MEMORIES, EVENTS, CHUNKS, ASSEMBLIES, PIECES)}
"""These tables can be divided. They are moved in this order."""

IS_DIVIDED_SQL = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"
LEAVES_SQL = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass ORDER BY inhrelid"


def is_divided(table: str) -> bool:
    """Return whether the table consists of partitions."""
    return fetch_rows(IS_DIVIDED_SQL, [table], using=OWNER) == [(True,)]


def is_moving(table: str) -> bool:
    """Return whether a move of the table has begun and is not finished, whether or not it runs."""
    divided = DIVIDED.get(table)
    return divided is not None and fetch_rows("SELECT to_regclass(%s)", [divided.moving], using=OWNER) != [(None,)]


def leaves(table: str) -> list[str]:
    """Return the names of the tables that hold the rows: the partitions, or the table itself."""
    return [name for (name,) in fetch_rows(LEAVES_SQL, [table], using=OWNER)] or [table]


GONE = "could not open relation"


def is_of_exchange(error: Exception) -> bool:
    """Return whether a statement failed because the table, or an index that it had found, was exchanged meanwhile.

    It can be executed again, with all that its transaction did. PostgreSQL has no code of its own for it.
    """
    return isinstance(error, DatabaseError) and GONE in str(error)
