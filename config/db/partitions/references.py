"""Foreign keys to a divided table become triggers: its unique keys contain the owner, which the referring rows lack.

A referring row locks the row that it refers to, as PostgreSQL's own foreign keys do, so neither a row without its
target nor a deleted row with referring ones can be committed.
"""

from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from config.db.partitions.divided_tables import OWNER, Divided
from config.db.statements import fetch_rows

REFERENCES_SQL = """
SELECT conname, conrelid::regclass::text, referring.attname, referred.attname, confdeltype::text,
    cardinality(conkey), condeferrable
FROM pg_constraint
    JOIN pg_attribute referring ON referring.attrelid = conrelid AND referring.attnum = conkey[1]
    JOIN pg_attribute referred ON referred.attrelid = confrelid AND referred.attnum = confkey[1]
WHERE contype = 'f' AND confrelid = %s::regclass ORDER BY conname
"""
FOLLOWED: dict[str, LiteralString] = {
    "c": "DELETE FROM {referring} WHERE {column} = ANY(gone);",
    "n": "UPDATE {referring} SET {column} = NULL WHERE {column} = ANY(gone);",
    "a": "IF EXISTS (SELECT FROM {referring} WHERE {column} = ANY(gone)) THEN RAISE foreign_key_violation"
    " USING MESSAGE = 'rows of ' || {table_name} || ' are still referred to from ' || {referring_name},"
    " CONSTRAINT = {name}; END IF;",
}
"""These statements say what happens to referring rows when a row is deleted, by PostgreSQL's letter for the action."""
CHECKS: LiteralString = """
CREATE OR REPLACE FUNCTION {checks}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $body$ BEGIN
    PERFORM FROM {table} WHERE {key} = NEW.{column} FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING CONSTRAINT = {name},
            MESSAGE = 'a row of ' || {referring_name} || ' refers to a row of ' || {table_name} || ' that is not there';
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER {inserted} AFTER INSERT ON {referring} FOR EACH ROW WHEN (NEW.{column} IS NOT NULL)
    EXECUTE FUNCTION {checks}();
CREATE TRIGGER {updated} AFTER UPDATE OF {column} ON {referring} FOR EACH ROW
    WHEN (NEW.{column} IS NOT NULL AND NEW.{column} IS DISTINCT FROM OLD.{column}) EXECUTE FUNCTION {checks}();
CREATE OR REPLACE FUNCTION {follows}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $body$
DECLARE
    gone {table}.{key}%TYPE[] := ARRAY(SELECT {key} FROM old_rows);
BEGIN
    IF gone <> '{{}}' THEN
        """
CHECKS_END: LiteralString = """
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER {follows} AFTER DELETE ON {table} REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION {follows}();
"""


class NotDivisible(Exception):
    """The catalogue has something of the table that a move does not know how to keep."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key has one column; `action` is PostgreSQL's letter for what happens when the target is deleted."""

    name: str
    referring: str
    column: str
    key: str
    action: str

    def drop_sql(self) -> sql.Composed:
        """Return the statement that drops the foreign key."""
        return sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(*map(sql.Identifier, (self.referring, self.name)))

    def triggers_sql(self, table: str) -> sql.Composed:
        """Return the statements that create the triggers instead of the foreign key."""
        names = {
            "referring": self.referring,
            "column": self.column,
            "key": self.key,
            "table": table,
            "checks": f"{self.name}_checks",
            "follows": f"{self.name}_follows",
            "inserted": f"{self.name}_inserted",
            "updated": f"{self.name}_updated",
        }
        literals = {"name": self.name, "referring_name": self.referring, "table_name": table}
        text: LiteralString = CHECKS + FOLLOWED[self.action] + CHECKS_END
        return sql.SQL(text).format(
            **{one: sql.Identifier(name) for one, name in names.items()},
            **{one: sql.Literal(name) for one, name in literals.items()},
        )


def references_to(divided: Divided) -> list[Reference]:
    """Return the foreign keys that refer to the table, those of the table itself included. Raises NotDivisible."""
    found = []
    for name, referring, column, key, action, columns, deferrable in fetch_rows(
        REFERENCES_SQL, [divided.table], using=OWNER
    ):
        if columns != 1 or deferrable or action not in FOLLOWED:
            raise NotDivisible(f"The foreign key {name} of {referring} cannot be kept by a trigger.")
        found.append(Reference(name, referring, column, key, action))
    return found
