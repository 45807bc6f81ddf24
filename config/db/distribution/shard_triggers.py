"""Triggers of distributed tables, by the catalogue: kept where they touch nothing else, or changed, or replaced."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from config.db.distribution.distributed_tables import DISTRIBUTED_BY_NAME, REFERENCE, Distributed
from config.db.distribution.owner_keys import NotDistributable
from config.db.partitions.definition import raw_sql
from config.db.partitions.divided_tables import OWNER
from config.db.statements import fetch_rows

TRIGGERS_SQL = """
SELECT tgrelid::regclass::text, tgname, proname, tgtype::integer & 1 = 1, tgtype::integer & 32 = 32,
    tgoldtable IS NOT NULL OR tgnewtable IS NOT NULL, encode(tgargs, 'escape'), pg_get_functiondef(tgfoid)
FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE NOT tgisinternal AND tgrelid = ANY(%s::regclass[]) ORDER BY 1, 2
"""
SETTING_FUNCTIONS_SQL = """
SELECT pg_get_functiondef(pg_proc.oid) FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' AND lanname = 'plpgsql'
    AND prosrc ~ 'PERFORM set_config\\(''dossier\\.(erasing|sealing)'', ''\\w+'', true\\)'
ORDER BY proname
"""

COUNTS, GONE, LEVEL, NOTHING = "counts_rows", "notes_gone", "notes_level", ""
REPLACED = {
    "count_changes": COUNTS,
    "forget_levels": GONE,
    "forget_conflicts": GONE,
    "note_raised": LEVEL,
    "count_access_change": NOTHING,  # counts for read replicas, with which a distributed installation does not work
    "memory_keeps_owner": NOTHING,  # corrects the column by which the row has been sent to a worker already
}
"""Triggers with these functions are replaced by a trigger for rows, whose name ends like this, or by nothing."""
ROW_TRIGGERS = {
    COUNTS: ("INSERT OR UPDATE OR DELETE", "", "count_row_change"),
    GONE: ("DELETE", "", "note_effect"),
    LEVEL: ("UPDATE OF sensitivity", "WHEN (NEW.sensitivity IS DISTINCT FROM OLD.sensitivity) ", "note_effect"),
}
"""The events, condition and function of each."""

USED = re.compile(r"\b(?:FROM|JOIN|UPDATE|INSERT INTO)\s+([a-z_]\w*)(?!\w*\s*\()", re.ASCII)
CONDITION = re.compile(r"\b(FROM|UPDATE) (\w+)((?: SET [^;]*?)?) WHERE ")
ELSEWHERE = re.compile(r"UPDATE (\w+) SET [^;]*;[ \n]*")
SETTING = re.compile(r"PERFORM set_config\('(dossier\.(?:erasing|sealing))', '(\w+)', true\)")


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger with the definition of its function."""

    table: str
    name: str
    function: str
    for_rows: bool
    of_truncate: bool
    has_transition_tables: bool
    arguments: str
    definition: str

    @property
    def body(self) -> str:
        """The function without its head."""
        return self.definition.partition("$function$")[2].rpartition("$function$")[0]

    @property
    def tables(self) -> set[str]:
        """The tables that the function reads or changes, besides those of the catalogue."""
        return {name for name in USED.findall(self.body) if not name.startswith("pg_")}


def triggers_of(tables: list[str]) -> list[Trigger]:
    """Return the triggers of the tables."""
    return [Trigger(*row) for row in fetch_rows(TRIGGERS_SQL, [tables], using=OWNER)]


def trigger_statements(tables: list[str]) -> Iterator[sql.Composable]:
    """Yield the statements after which no trigger of these tables leaves the rows of an owner. Raises NotDistributable.

    Conditions on the owner are added to functions that read or change other distributed tables.
    """
    for table in tables:
        yield from _of_table(DISTRIBUTED_BY_NAME[table], triggers_of([table]))


def _of_table(table: Distributed, triggers: list[Trigger]) -> Iterator[sql.Composable]:
    needed: set[str] = set()
    for one in triggers:
        statements, instead = _changed(one, table)
        needed |= {instead} - {NOTHING}
        yield from statements
    for name in sorted(needed):
        events, condition, function = ROW_TRIGGERS[name]
        text: Any = (
            f"CREATE TRIGGER {{}} AFTER {events} ON {{}} FOR EACH ROW {condition}EXECUTE FUNCTION {function}({{}})"
        )
        names = (sql.Identifier(f"{table.table}_{name}"), sql.Identifier(table.table), sql.Literal(table.owner))
        yield sql.SQL(text).format(*names)


def _changed(one: Trigger, table: Distributed) -> tuple[list[sql.Composable], str]:
    """Return what is to be executed for a trigger, and which trigger for rows it needs in addition or instead."""
    drop = sql.SQL("DROP TRIGGER {} ON {}").format(sql.Identifier(one.name), sql.Identifier(table.table))
    if one.function in REPLACED:
        return [drop], REPLACED[one.function]
    if one.of_truncate and not one.for_rows:
        return [drop], NOTHING
    if not one.for_rows:
        raise NotDistributable(f"The trigger {one.name} of {table.table} is executed once for a statement.")
    if not one.tables:
        return [], NOTHING
    changed, leaves_out = _within_owner(one, table)
    is_left = USED.search(changed.partition("$function$")[2])
    return [raw_sql(changed) if is_left else drop], LEVEL if leaves_out else NOTHING


def _within_owner(one: Trigger, table: Distributed) -> tuple[str, bool]:
    """Return the definition of a trigger's function that names the owner, and whether statements about tables of the
    coordinator were left out of it. Raises NotDistributable.
    """
    if not one.function.startswith(f"{table.table}_"):
        raise NotDistributable(f"The trigger {one.name} of {table.table} uses other tables: {', '.join(one.tables)}.")

    def with_owner(found: re.Match[str]) -> str:
        other = DISTRIBUTED_BY_NAME.get(found[2])
        named = f"{other.owner} = NEW.{table.owner} AND " if other else ""
        return f"{found[0]}{named}"

    def only_distributed(found: re.Match[str]) -> str:
        return found[0] if found[1] in DISTRIBUTED_BY_NAME else ""

    kept = ELSEWHERE.sub(only_distributed, one.definition)
    changed = CONDITION.sub(with_owner, kept)
    return changed, kept != one.definition


def reference_statements() -> Iterator[sql.Composable]:
    """Yield the statements that replace the triggers of tables that every server will have. Raises NotDistributable."""
    for one in triggers_of([*REFERENCE[1:]]):
        if one.function != "count_changes":
            raise NotDistributable(f"The trigger {one.name} of {one.table} cannot be executed on every server.")
        yield sql.SQL("DROP TRIGGER {} ON {}").format(sql.Identifier(one.name), sql.Identifier(one.table))
        if one.name.endswith("_insert"):
            text: Any = (
                "CREATE TRIGGER {} AFTER INSERT OR UPDATE OR DELETE ON {}"
                " FOR EACH ROW EXECUTE FUNCTION count_reference_change({})"
            )
            owner = one.arguments.removesuffix("\\000").strip("'").partition("'")[0]
            names = (sql.Identifier(f"{one.table}_counts_rows"), sql.Identifier(one.table), sql.Literal(owner))
            yield sql.SQL(text).format(*names)


def setting_statements() -> Iterator[sql.Composable]:
    """Yield the functions that allow changes to history by a setting, so that workers get the setting, too.

    Citus sends SET LOCAL to the workers of a transaction, but not the effect of set_config().
    """
    for (definition,) in fetch_rows(SETTING_FUNCTIONS_SQL, using=OWNER):
        yield raw_sql(SETTING.sub(r"SET LOCAL \1 = '\2'", definition))
