"""Which owners have sealed texts, wherever these lie: the key of a deleted owner is destroyed when it has none."""

from collections.abc import Collection
from uuid import UUID

from config.db.statements import fetch_rows
from config.keys.sealed_texts import owner_prefix
from teams.sealing.columns import SealedColumn, sealed_columns

IDS_SQL = "SELECT id FROM {table} WHERE {beginning} = ANY(%(prefixes)s)"
IN_USE_SQL = "SELECT DISTINCT {beginning} FROM {table} WHERE {beginning} = ANY(%(prefixes)s)"


def owners_in_use(owners: Collection[UUID], *, but: Collection[str] = ()) -> set[UUID]:
    """Return those of the owners under whose keys a text is sealed. Reads every table with sealed columns once, except
    these.

    An owner whose id has the first 15 bytes of another one counts as well.
    """
    by_prefix = {owner_prefix(owner): owner for owner in owners}
    found: set[UUID] = set()
    for column in (one for table, columns in sealed_columns().items() if table not in but for one in columns):
        if missing := by_prefix.keys() - {owner_prefix(owner) for owner in found}:
            sql = IN_USE_SQL.format(beginning=_beginning_sql(column, len(next(iter(missing)))), table=column.table)
            found |= {by_prefix[prefix] for (prefix,) in fetch_rows(sql, {"prefixes": sorted(missing)})}
    return found


def ids_sealed_under(owners: Collection[UUID], table: str) -> list[UUID]:
    """Return the ids of the rows of a table in which a text is sealed under the key of one of the owners."""
    prefixes = sorted(map(owner_prefix, owners))
    found: set[UUID] = set()
    for column in sealed_columns()[table] if prefixes else ():
        sql = IDS_SQL.format(beginning=_beginning_sql(column, len(prefixes[0])), table=table)
        found.update(id_ for (id_,) in fetch_rows(sql, {"prefixes": prefixes}))
    return sorted(found)


def _beginning_sql(column: SealedColumn, characters: int) -> str:
    if column.type == "jsonb":
        text = f"{column.column} #>> '{{}}'"
        return f"CASE WHEN jsonb_typeof({column.column}) = 'string' THEN left({text}, {characters}) END"
    return f"left({column.column}{'[1]' if column.type == 'text[]' else ''}, {characters})"
