"""A table's columns, checks, keys, indexes, triggers and rights are read from the catalogue, whatever they are."""

import re
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from config.db.partitions.divided_tables import OWNER, Divided
from config.db.partitions.references import NotDivisible
from config.db.statements import fetch_rows

COLUMNS_SQL = """
SELECT attname, format_type(atttypid, atttypmod), attidentity::text, attgenerated::text
FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
CHECKS_SQL = """
SELECT conname, regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', '') FROM pg_constraint
WHERE contype = 'c' AND conrelid = %s::regclass ORDER BY conname
"""
REFERRED_SQL = """
SELECT conname, regexp_replace(pg_get_constraintdef(oid), ' NOT VALID$', ''), confrelid::regclass::text
FROM pg_constraint WHERE contype = 'f' AND conrelid = %s::regclass AND confrelid <> conrelid AND conparentid = 0
ORDER BY conname
"""
INDEXES_SQL = """
SELECT index.relname, pg_get_indexdef(indexrelid), indisunique, coalesce(conname, ''),
    coalesce(obj_description(indexrelid, 'pg_class'), ''), indisvalid,
    ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey)),
    coalesce(contype::text, '')
FROM pg_index JOIN pg_class index ON index.oid = indexrelid
    LEFT JOIN pg_constraint ON conindid = indexrelid AND conrelid = indrelid AND contype IN ('p', 'u', 'x')
WHERE indrelid = %s::regclass ORDER BY index.relname
"""
TRIGGERS_SQL = """
SELECT tgname, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger
WHERE tgrelid = %s::regclass AND NOT tgisinternal AND tgparentid = 0 ORDER BY tgname
"""
OPTIONS_SQL = "SELECT coalesce(array_to_string(reloptions, ', '), '') FROM pg_class WHERE oid = %s::regclass"
RIGHTS_SQL = """
SELECT privilege_type, CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = %s::regclass AND grantee <> relowner ORDER BY 2, 1
"""
COLUMN_RIGHTS_SQL = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attacl IS NOT NULL"
KEY_COLUMNS = re.compile(r" USING btree \(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Index:
    """An index says how it is created. `constraint` is the letter of its constraint ("p", "u"); empty without one."""

    name: str
    definition: str
    """This is the definition from USING on, or the whole statement."""
    unique: bool = False
    constraint: str = ""
    comment: str = ""

    @property
    def key(self) -> str:
        """Return the columns of a key that belongs to a constraint, separated by commas."""
        found = KEY_COLUMNS.search(self.definition)
        assert found  # noqa: S101 - no constraint has expressions
        return found[1]

    def on(self, table: str, name: str, *, only: bool = False, concurrently: bool = False) -> sql.Composed:
        """Return the statement that creates this index on a table; with `only`, without its partitions."""
        method = self.definition.partition("USING ")[2]
        return sql.SQL("CREATE {}INDEX {}{} ON {}{} USING {}").format(
            sql.SQL("UNIQUE " if self.unique else ""),
            sql.SQL("CONCURRENTLY " if concurrently else ""),
            sql.Identifier(name),
            sql.SQL("ONLY " if only else ""),
            sql.Identifier(table),
            raw_sql(method),
        )


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition has everything that a table consists of, besides its rows."""

    columns: tuple[tuple[str, str, str, str], ...]
    """Each column has its name, its type, and PostgreSQL's letters for identity and generated columns."""
    checks: tuple[tuple[str, str], ...]
    referred: tuple[tuple[str, str, str], ...]
    """Each foreign key to another table has its name, its definition, and that table."""
    indexes: tuple[Index, ...]
    triggers: tuple[tuple[str, str, str], ...]
    options: str
    """The storage parameters are separated by commas."""
    rights: tuple[tuple[str, str], ...]
    """Each right has a privilege and a quoted role."""

    @property
    def written(self) -> tuple[str, ...]:
        """Return the names of the columns that an insert can name."""
        return tuple(name for name, _, _, generated in self.columns if not generated)

    def same_rows_as(self, other: "Definition") -> bool:
        """Return whether the rows of both have the same columns and meet the same conditions."""
        return (self.columns, self.checks, self.referred) == (other.columns, other.checks, other.referred)


def definition_of(table: str, divided: Divided) -> Definition:
    """Read the definition of `table`, which is that of `divided`, or the one that will take its place.

    The triggers of the move itself are left out. Raises NotDivisible.
    """
    if fetch_rows(COLUMN_RIGHTS_SQL, [table], using=OWNER):
        raise NotDivisible(f"The columns of {table} have rights of their own.")
    ((options,),) = fetch_rows(OPTIONS_SQL, [table], using=OWNER)
    triggers = [row for row in _read(TRIGGERS_SQL, table) if not row[0].startswith(divided.moving)]
    return Definition(
        columns=tuple(
            (name, type_, identity, generated) for name, type_, identity, generated in _read(COLUMNS_SQL, table)
        ),
        checks=tuple((name, text) for name, text in _read(CHECKS_SQL, table)),
        referred=tuple((name, text, to) for name, text, to in _read(REFERRED_SQL, table)),
        indexes=tuple(_index(row, divided, is_copy=table == divided.moving) for row in _read(INDEXES_SQL, table)),
        triggers=tuple((name, text, on) for name, text, on in triggers),
        options=options,
        rights=tuple((right, role) for right, role in _read(RIGHTS_SQL, table)),
    )


def _read(statement: str, table: str) -> list[tuple[Any, ...]]:
    return fetch_rows(statement, [table], using=OWNER)


def _index(row: tuple[Any, ...], divided: Divided, *, is_copy: bool) -> Index:
    """Return the index as it will be on the divided table: every unique one contains the owner.

    One of the copy is not valid until it is built on all partitions. Raises NotDivisible.
    """
    name, definition, unique, _, comment, valid, columns, constraint = row
    if not valid and not is_copy:
        raise NotDivisible(f"The index {name} is not valid. Drop it, or build it again.")
    if unique and divided.owner not in columns:
        definition, found = KEY_COLUMNS.subn(rf" USING btree (\1, {divided.owner})", definition, count=1)
        if not found:
            raise NotDivisible(f"The unique index {name} cannot have the owner in addition.")
    return Index(name, definition, unique, constraint, comment)


def raw_sql(text: str) -> sql.SQL:
    """Return SQL that PostgreSQL has written itself, as a part of a statement."""
    literal: Any = text  # it is not literal, but the catalogue's own
    return sql.SQL(literal)
