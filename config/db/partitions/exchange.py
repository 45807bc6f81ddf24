"""The divided table takes the place of the table, in one short transaction."""

from collections.abc import Callable
from time import monotonic

from django.db import transaction
from psycopg import sql

from config.db.partitions.copy_state import check_indexes, check_same, drop_triggers, impatient, lock_tables
from config.db.partitions.definition import RIGHTS_SQL, definition_of, raw_sql
from config.db.partitions.divided_tables import OWNER, Divided
from config.db.partitions.references import references_to
from config.db.statements import execute_sql, fetch_rows

IDS_ARE_UNIQUE = """
CREATE OR REPLACE FUNCTION {table}_refuses_taken_ids() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$ BEGIN
    IF EXISTS (
        SELECT FROM {table} AS there JOIN new_rows ON new_rows.id = there.id AND new_rows.{owner} <> there.{owner}
        WHERE there.id = ANY(ARRAY(SELECT id FROM new_rows))
    ) THEN
        RAISE unique_violation USING MESSAGE = 'another owner has a row of {table} with this id';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER {table}_refuses_taken_ids AFTER INSERT ON {table} REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_refuses_taken_ids();
"""
"""Keys are unique within a partition. Ids are random, so another partition has the same only if somebody copies it."""


def exchange(divided: Divided, copy_changes: Callable[[], int]) -> float:
    """Put the divided table into the table's place; return for how many seconds others could wait for its locks.

    `copy_changes` copies rows that were noted, and returns how many there were.
    Raises Outdated, and Django's errors where a lock was not granted in time. Nothing has changed then.
    """
    with transaction.atomic(using=OWNER):
        impatient()
        references = references_to(divided)
        found = definition_of(divided.table, divided)
        # Dropping a table locks those that its foreign keys refer to. They are locked first, as requests do.
        others = {to for _, _, to in found.referred} | {one.referring for one in references}
        began = monotonic()
        lock_tables(divided, others, "ACCESS EXCLUSIVE")
        check_same(divided)
        check_indexes(divided)
        while copy_changes():
            pass
        found = definition_of(divided.table, divided)
        sequences = [_continue_sequence(divided, column) for column, _, identity, _ in found.columns if identity]
        drop_triggers(divided)
        for one in references:
            execute_sql(one.drop_sql().as_string(), using=OWNER)
        execute_sql(f"DROP TABLE {divided.table}", using=OWNER)
        execute_sql(f"ALTER TABLE {divided.moving} RENAME TO {divided.table}", using=OWNER)
        for index in found.indexes:
            names = map(sql.Identifier, (f"{index.name}_moving", index.name))
            execute_sql(sql.SQL("ALTER INDEX {} RENAME TO {}").format(*names).as_string(), using=OWNER)
        for former, name in sequences:
            names = map(sql.Identifier, (former, name))
            execute_sql(sql.SQL("ALTER SEQUENCE {} RENAME TO {}").format(*names).as_string(), using=OWNER)
        for name, text, enabled in found.triggers:
            execute_sql(text, using=OWNER)
            if enabled == "D":
                disable = sql.SQL("DISABLE TRIGGER {}").format(sql.Identifier(name)).as_string()
                execute_sql(f"ALTER TABLE {divided.table} {disable}", using=OWNER)
        for one in references:
            execute_sql(one.triggers_sql(divided.table).as_string(), using=OWNER)
        if divided.owner != "id":
            execute_sql(IDS_ARE_UNIQUE.format(table=divided.table, owner=divided.owner), using=OWNER)
    return monotonic() - began


SEQUENCE_SQL = "SELECT relname, nextval(oid) FROM pg_class WHERE oid = pg_get_serial_sequence(%s, %s)::regclass"


def _continue_sequence(divided: Divided, column: str) -> tuple[str, str]:
    """Let the copy's own numbers go on where those of the table are, with the same rights.

    Return the names of the sequences of both, that of the copy first.
    """
    ((there, number),) = fetch_rows(SEQUENCE_SQL, [divided.table, column], using=OWNER)
    ((copy, _),) = fetch_rows(SEQUENCE_SQL, [divided.moving, column], using=OWNER)
    fetch_rows("SELECT setval(%s::regclass, %s)", [copy, number], using=OWNER)
    for right, role in fetch_rows(RIGHTS_SQL, [there], using=OWNER):
        grant = sql.SQL("GRANT {} ON SEQUENCE {} TO {}").format(raw_sql(right), sql.Identifier(copy), raw_sql(role))
        execute_sql(grant.as_string(), using=OWNER)
    return copy, there
