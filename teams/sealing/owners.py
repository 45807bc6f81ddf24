"""Which owners have sealed texts, wherever these lie: the key of a deleted owner is destroyed when it has none."""

from collections.abc import Collection
from uuid import UUID

from config.db.statements import fetch_rows
from config.keys.sealed_texts import owner_prefix
from teams.sealing.columns import SealedColumn, sealed_columns

IN_USE_SQL = "SELECT DISTINCT {beginning} FROM {table} WHERE {beginning} = ANY(%(prefixes)s)"


def owners_in_use(owners: Collection[UUID]) -> set[UUID]:
    """Return those of the owners under whose keys a text is sealed. Reads every table with sealed columns once.

    An owner whose id has the first 15 bytes of another one counts as well.
    """
    by_prefix = {owner_prefix(owner): owner for owner in owners}
    found: set[UUID] = set()
    for column in (one for columns in sealed_columns().values() for one in columns):
        if missing := by_prefix.keys() - {owner_prefix(owner) for owner in found}:
            sql = IN_USE_SQL.format(beginning=_beginning_sql(column, len(next(iter(missing)))), table=column.table)
            found |= {by_prefix[prefix] for (prefix,) in fetch_rows(sql, {"prefixes": sorted(missing)})}
    return found


def _beginning_sql(column: SealedColumn, characters: int) -> str:
    if column.type == "jsonb":
        text = f"{column.column} #>> '{{}}'"
        return f"CASE WHEN jsonb_typeof({column.column}) = 'string' THEN left({text}, {characters}) END"
    return f"left({column.column}{'[1]' if column.type == 'text[]' else ''}, {characters})"
