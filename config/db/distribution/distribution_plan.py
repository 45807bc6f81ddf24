"""The statements that distribute an installation, by the catalogue: those that are not done yet, in order."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.db import DatabaseError, IntegrityError, connections, transaction
from psycopg import sql

from config.db.distribution import row_functions
from config.db.distribution.citus_rules import broken_cluster_rules, broken_rules, obstacles
from config.db.distribution.distributed_tables import (
    COUNTERS,
    DISTRIBUTED,
    EFFECTS,
    FIRST,
    REFERENCE,
    has_citus,
    is_prepared,
    is_there,
)
from config.db.distribution.owner_keys import NotDistributable, key_statements
from config.db.distribution.shard_triggers import (
    reference_statements,
    setting_statements,
    trigger_statements,
    triggers_of,
)
from config.db.partitions.definition import raw_sql
from config.db.partitions.divided_tables import OWNER
from config.db.statements import execute_sql, fetch_rows

SHARDS = 32
"""The number of shards, by default. Citus can change it later, by alter_distributed_table()."""

FUNCTIONS_SQL = """
SELECT proname, pg_proc.oid::regprocedure::text, prosrc FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' AND lanname IN ('sql', 'plpgsql')
    AND prorettype <> 'trigger'::regtype ORDER BY 2
"""
LOCAL_ROWS_SQL = "SELECT name FROM unnest(%s::text[]) AS name WHERE pg_relation_size(to_regclass(name)) > 0"
NO_CITUS = (
    "PostgreSQL does not have the extension Citus. Install it on every server, add citus to shared_preload_libraries"
    " before everything else, restart, and execute CREATE EXTENSION citus in this database and in one of the same name"
    " on every worker. See docs/scaling.md. `distribute --plan` shows what would be executed."
)


class DistributionRefused(Exception):
    """A rule is broken, or the extension is missing or failed; the sentences say what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan has the statements that are still to be executed.

    `prepare` is plain PostgreSQL, and executed in one transaction. Each statement of `distribute` is one by itself.
    """

    prepare: list[str]
    distribute: list[str]


def remaining_plan(shards: int = SHARDS) -> Plan:
    """Return what has still to be executed, with or without the extension. Raises DistributionRefused."""
    try:
        prepare = [] if is_prepared() else [_text(one) for one in _preparation()]
    except NotDistributable as error:
        raise DistributionRefused(str(error)) from error
    done = _distributed() if has_citus() else set()
    distribute = [*_references(done), *_functions(), *_tables(done, shards)] if _is_left(done) else []
    return Plan(prepare, [*distribute, *_leftovers()])


def execute_plan(shards: int, report: Callable[[str], object]) -> int:
    """Execute what is left; return the number of statements. Raises DistributionRefused."""
    refuse(obstacles())
    if not has_citus():
        raise DistributionRefused(NO_CITUS)
    refuse(broken_cluster_rules())
    plan = remaining_plan(shards)
    prepare(plan.prepare)
    if plan.prepare:
        report(f"Keys and triggers are prepared, by {len(plan.prepare)} statements.")
    refuse(broken_rules())
    for statement in plan.distribute:
        try:
            execute_sql(statement, using=OWNER)
        except DatabaseError as error:
            raise DistributionRefused(f"{statement} failed: {error}\nStart again to continue from here.") from error
        report(statement)
    return len(plan.prepare) + len(plan.distribute)


def prepare(statements: list[str]) -> None:
    """Execute the statements of the preparation, all or none; the rules hold then. Raises DistributionRefused."""
    if not statements:
        return
    with transaction.atomic(using=OWNER):
        for statement in statements:
            try:
                execute_sql(statement, using=OWNER)
            except IntegrityError as error:
                raise DistributionRefused(f"Rows refer to rows of another owner, or of none: {error}") from error
        refuse(broken_rules())


def refuse(sentences: list[str]) -> None:
    """Raise DistributionRefused with these sentences, if there are any."""
    if sentences:
        raise DistributionRefused("\n".join(sentences))


def _text(statement: sql.Composable) -> str:
    connections[OWNER].ensure_connection()
    return statement.as_string(connections[OWNER].connection)


def _preparation() -> Iterator[sql.Composable]:
    tables = [one.table for one in DISTRIBUTED if one.table not in {COUNTERS, EFFECTS}]
    yield from _owner_columns()
    for part in row_functions.PARTS:
        yield raw_sql(part.strip())
    yield from key_statements(tables)
    yield from trigger_statements(tables)
    yield from reference_statements()
    yield from setting_statements()


def _owner_columns() -> Iterator[sql.Composable]:
    for one in DISTRIBUTED:
        if one.owner_sql:
            yield raw_sql(f"ALTER TABLE {one.table} DISABLE TRIGGER USER")
            yield raw_sql(f"UPDATE {one.table} SET {one.owner} = {one.owner_sql} WHERE {one.owner} IS NULL")  # noqa: S608
            yield raw_sql(f"ALTER TABLE {one.table} ENABLE TRIGGER USER")
            yield raw_sql(f"ALTER TABLE {one.table} ALTER COLUMN {one.owner} SET NOT NULL")
    yield raw_sql("ALTER TABLE memories VALIDATE CONSTRAINT memory_owner_id")


def _distributed() -> set[str]:
    return {name for (name,) in fetch_rows("SELECT logicalrelid::regclass::text FROM pg_dist_partition", using=OWNER)}


def _is_left(done: set[str]) -> bool:
    return not done >= {*REFERENCE, *(one.table for one in DISTRIBUTED)}


def _references(done: set[str]) -> Iterator[str]:
    for table in REFERENCE:
        if table not in done:
            yield f"SELECT create_reference_table('{table}')"


def _functions() -> Iterator[str]:
    """Yield what sends the functions to the workers that triggers call: Citus sends those of triggers by itself."""
    found = {name: (signature, body) for name, signature, body in fetch_rows(FUNCTIONS_SQL, using=OWNER)}
    left = [one.body for one in triggers_of([table.table for table in DISTRIBUTED if is_there(table.table)])]
    called: dict[str, None] = {}
    while left:
        body = left.pop()
        for name in sorted({*re.findall(r"\b(\w+)\(", body)} & found.keys() - called.keys()):
            called[name] = None
            left.append(found[name][1])
    for name in sorted(called):
        yield f"SELECT create_distributed_function('{found[name][0]}')"


def _tables(done: set[str], shards: int) -> Iterator[str]:
    for one in DISTRIBUTED:
        if one.table not in done:
            where = f"'none', shard_count => {shards}" if one.table == FIRST else f"'{FIRST}'"
            yield f"SELECT create_distributed_table('{one.table}', '{one.owner}', colocate_with => {where})"


def _leftovers() -> Iterator[str]:
    """Yield what removes the rows that Citus has copied to workers, but left in the files of the coordinator, where no
    erasure would find them.
    """
    for (table,) in fetch_rows(LOCAL_ROWS_SQL, [[one.table for one in DISTRIBUTED]], using=OWNER):
        yield f"SELECT truncate_local_data_after_distributing_table('{table}')"
