"""While a table is moved, there is a copy of it, and triggers note what is written meanwhile."""

from collections.abc import Collection
from time import monotonic
from typing import Literal

from django.db import transaction
from psycopg import sql

from config.db.partitions.definition import definition_of
from config.db.partitions.divided_tables import OWNER, Divided, is_moving
from config.db.partitions.partition_indexes import has_all_indexes
from config.db.statements import execute_sql

LOCK_TIMEOUT_MS = 300
"""Others wait at most this long, in milliseconds, behind locks that are not granted."""


class Outdated(Exception):
    """The table was changed by a migration since the move began."""


EVENTS = ("insert", "update", "delete", "truncate")


def check_same(divided: Divided) -> None:
    """Raise Outdated if the table has other columns, checks or foreign keys than its copy."""
    here, copy = definition_of(divided.table, divided), definition_of(divided.moving, divided)
    if not here.same_rows_as(copy) or {*here.rights} != {*copy.rights}:
        raise Outdated(f"{divided.table} has changed since its copy was begun.")


def check_indexes(divided: Divided) -> None:
    """Raise Outdated if the copy lacks an index of the table."""
    names = [index.name for index in definition_of(divided.table, divided).indexes]
    if not has_all_indexes(divided.moving, [f"{name}_moving" for name in names]):
        raise Outdated(f"{divided.table} has other indexes than its copy.")


def impatient(milliseconds: int = LOCK_TIMEOUT_MS) -> None:
    """Let each statement of this transaction wait for a lock for a short time only."""
    execute_sql(f"SET LOCAL lock_timeout = {milliseconds}", using=OWNER)


def lock_tables(
    divided: Divided, others: Collection[str], mode: Literal["ACCESS EXCLUSIVE", "SHARE ROW EXCLUSIVE"]
) -> None:
    """Lock the tables `others`, and then the one that is divided, in this mode until the end of the transaction.

    All locks together are waited for no longer than LOCK_TIMEOUT_MS: whoever waits for the first ones waits so long.
    Raises OperationalError if one of them is not granted in time.
    """
    until = monotonic() + LOCK_TIMEOUT_MS / 1000
    for table in [*sorted({*others} - {divided.table}), divided.table]:
        impatient(max(1, int((until - monotonic()) * 1000)))
        execute_sql(sql.SQL(f"LOCK TABLE {{}} IN {mode} MODE").format(sql.Identifier(table)).as_string(), using=OWNER)
    impatient()


def abandon(divided: Divided) -> bool:
    """Drop what a move has created; return whether there was anything."""
    if not is_moving(divided.table):
        return False
    with transaction.atomic(using=OWNER):
        impatient()
        drop_triggers(divided)
        execute_sql(f"DROP TABLE {divided.moving}", using=OWNER)
    return True


def drop_triggers(divided: Divided) -> None:
    """Drop the triggers that note changes, with their function and tables."""
    for event in EVENTS:
        execute_sql(f"DROP TRIGGER {divided.moving}_{event} ON {divided.table}", using=OWNER)
    execute_sql(f"DROP FUNCTION {divided.moving}_note()", using=OWNER)
    execute_sql(f"DROP TABLE {divided.changes}, {divided.progress}", using=OWNER)
