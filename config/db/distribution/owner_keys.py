"""Every key of a distributed table gets the owner, by the catalogue: unique ones, and foreign keys between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from config.db.distribution.distributed_tables import DISTRIBUTED, DISTRIBUTED_BY_NAME, OWNERS, Distributed
from config.db.partitions.definition import raw_sql
from config.db.partitions.divided_tables import OWNER
from config.db.statements import fetch_rows

UNIQUE_SQL = """
SELECT indrelid::regclass::text, index.relname, coalesce(conname, ''), coalesce(contype::text, ''),
    pg_get_indexdef(indexrelid), ARRAY(SELECT attname::text FROM pg_attribute
        WHERE attrelid = indrelid AND attnum = ANY(indkey)), indexprs IS NOT NULL
FROM pg_index JOIN pg_class index ON index.oid = indexrelid
    LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = indrelid AND contype IN ('p', 'u', 'x')
WHERE indisunique AND indrelid = ANY(%s::regclass[]) ORDER BY 1, 2
"""
FOREIGN_SQL = """
SELECT conname, conrelid::regclass::text, confrelid::regclass::text, confdeltype::text, confupdtype::text,
    ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
        JOIN pg_attribute ON attrelid = conrelid AND attnum = number ORDER BY place),
    ARRAY(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS key (number, place)
        JOIN pg_attribute ON attrelid = confrelid AND attnum = number ORDER BY place)
FROM pg_constraint
WHERE contype = 'f' AND (conrelid = ANY(%(tables)s::regclass[]) OR confrelid = ANY(%(tables)s::regclass[]))
ORDER BY 2, 1
"""
COLUMNS_OF_KEY = re.compile(r" USING btree \(([^()]+)\)")
OWNING = {"agents", "teams"}


class NotDistributable(Exception):
    """The catalogue has something of which the command does not know how Citus could keep it."""


@dataclass(frozen=True, slots=True)
class Unique:
    """A unique index; `constraint` is the name of the constraint that it belongs to, with PostgreSQL's letter."""

    table: str
    name: str
    constraint: str
    kind: str
    definition: str
    columns: tuple[str, ...]
    has_expressions: bool


@dataclass(frozen=True, slots=True)
class Foreign:
    """A foreign key; `deletes` and `updates` are PostgreSQL's letters for what happens to the referring rows."""

    name: str
    table: str
    target: str
    deletes: str
    updates: str
    columns: tuple[str, ...]
    target_columns: tuple[str, ...]


def unique_keys(tables: list[str]) -> list[Unique]:
    """Return the unique indexes of the tables."""
    rows = fetch_rows(UNIQUE_SQL, [tables], using=OWNER)
    return [
        Unique(table, name, constraint, kind, definition, tuple(columns), has_expressions)
        for table, name, constraint, kind, definition, columns, has_expressions in rows
    ]


def foreign_keys(tables: list[str]) -> list[Foreign]:
    """Return the foreign keys from and to the tables."""
    rows = fetch_rows(FOREIGN_SQL, {"tables": tables}, using=OWNER)
    return [
        Foreign(name, table, target, deletes, updates, tuple(columns), tuple(target_columns))
        for name, table, target, deletes, updates, columns, target_columns in rows
    ]


def key_statements(tables: list[str]) -> Iterator[sql.Composable]:
    """Yield the statements that give the owner to all keys of these tables. Raises NotDistributable.

    Foreign keys to agents and teams become one to the table of owners. One that sets a column to NULL becomes one that
    does nothing, with a trigger that sets it: Citus sets no part of a key with the owner to NULL (Citus issue 7132).
    """
    foreign = foreign_keys(tables)
    for one in foreign:
        yield _named("ALTER TABLE {} DROP CONSTRAINT {}", one.table, one.name)
    for key in unique_keys(tables):
        owner = DISTRIBUTED_BY_NAME[key.table].owner
        if owner not in key.columns:
            yield from _with_owner(key, owner)
    for table in tables:
        yield _to_owners(DISTRIBUTED_BY_NAME[table])
    for one in foreign:
        if one.target not in OWNING:
            yield from _composite(one)


def _named(text: Any, *names: str) -> sql.Composed:
    return sql.SQL(text).format(*map(sql.Identifier, names))


def _with_owner(key: Unique, owner: str) -> Iterator[sql.Composable]:
    found = COLUMNS_OF_KEY.search(key.definition)
    if not found or key.has_expressions or key.kind == "x":
        raise NotDistributable(f"The unique index {key.name} of {key.table} cannot have the owner in addition.")
    if not key.constraint:
        yield _named("DROP INDEX {}", key.name)
        yield raw_sql(COLUMNS_OF_KEY.sub(rf" USING btree ({owner}, \1)", key.definition, count=1))
        return
    yield _named("ALTER TABLE {} DROP CONSTRAINT {}", key.table, key.constraint)
    kind = "PRIMARY KEY" if key.kind == "p" else "UNIQUE"
    yield sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {} ({}, {})").format(
        sql.Identifier(key.table), sql.Identifier(key.constraint), raw_sql(kind), sql.Identifier(owner),
        raw_sql(found[1]),
    )  # fmt: skip


def _to_owners(one: Distributed) -> sql.Composed:
    text = "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {} (id) ON DELETE CASCADE"
    return _named(text, one.table, f"{one.table}_of_owner", one.owner, OWNERS)


def _composite(one: Foreign) -> Iterator[sql.Composable]:
    here, there = DISTRIBUTED_BY_NAME.get(one.table), DISTRIBUTED_BY_NAME.get(one.target)
    if here is None or there is None:
        raise NotDistributable(
            f"The foreign key {one.name} of {one.table} refers to {one.target}, and only one of them is distributed."
        )
    if len(one.columns) != 1 or one.deletes not in "acnr" or one.updates not in "ar":
        raise NotDistributable(f"The foreign key {one.name} of {one.table} cannot have the owner in addition.")
    (column,), (key,) = one.columns, one.target_columns
    yield sql.SQL(
        "ALTER TABLE {} ADD CONSTRAINT {} FOREIGN KEY ({}, {}) REFERENCES {} ({}, {}){}"
    ).format(
        *map(sql.Identifier, (one.table, one.name, here.owner, column, one.target, there.owner, key)),
        raw_sql(" ON DELETE CASCADE" if one.deletes == "c" else ""),
    )  # fmt: skip
    if one.deletes == "n":
        yield clearing_trigger(one, here.owner, there.owner)


CLEAR: Any = """
CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE {table} SET {column} = NULL WHERE {owner} = OLD.{there} AND {column} = OLD.{key};
    RETURN NULL;
END $$;
CREATE TRIGGER {trigger} AFTER DELETE ON {target} FOR EACH ROW EXECUTE FUNCTION {function}()
"""


def clearing_trigger(one: Foreign, owner: str, there: str) -> sql.Composed:
    """Return the trigger that does what ON DELETE SET NULL did.

    By its name it comes before PostgreSQL's own trigger of the foreign key, which would refuse the deletion.
    """
    names = {
        "function": f"{one.name}_clears", "trigger": f"A_{one.name}_clears", "table": one.table, "target": one.target,
        "column": one.columns[0], "owner": owner, "there": there, "key": one.target_columns[0],
    }  # fmt: skip
    return sql.SQL(CLEAR).format(**{name: sql.Identifier(value) for name, value in names.items()})


ALL_TABLES = [one.table for one in DISTRIBUTED]
