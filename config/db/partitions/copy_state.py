"""While a table is moved, there is a copy of it, and triggers note what is written meanwhile."""

from django.db import transaction

from config.db.partitions.definition import definition_of
from config.db.partitions.divided_tables import OWNER, Divided, is_moving
from config.db.partitions.partition_indexes import has_all_indexes
from config.db.statements import execute_sql

LOCK_TIMEOUT = "300ms"
"""The longest that others wait behind a lock that is not granted."""


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


def impatient() -> None:
    """Let the statements of this transaction wait for locks for a short time only."""
    execute_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'", using=OWNER)


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
