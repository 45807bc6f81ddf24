"""Texts above internal that were stored before they were sealed are sealed in batches, while Dossier is in use.

A check of `manage.py check --deploy` tells that there are some.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as DeployWarning
from django.db import DatabaseError, transaction

from config.db.sealed_columns import plain_sql
from config.db.statements import fetch_rows
from config.keys.sealed_texts import seal_text
from memories.lifecycle.thing_tables import THING_TABLES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import has_plain_text, things_move
from teams.sealing.columns import OWN, OWNERS, PARTS, PERSONAL, SealedColumn
from teams.sealing.parts import column_seal, rows_seal, store_texts

BATCH = 50
NEXT_SQL = """
SELECT id FROM {table} WHERE sensitivity > 1 AND {chosen} AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
ORDER BY id LIMIT {batch}
"""
VERSIONS_SQL = """
SELECT version.id, version.{column}, {owner} FROM {versions} AS version JOIN {table} AS file ON file.id = file_id
WHERE version.sensitivity > 1 AND {plain} LIMIT {batch}
"""
PERSONS_SQL = "SELECT DISTINCT person_id FROM {table} WHERE {plain}"
COUNT_SQL = "SELECT count(*) FROM {table} WHERE sensitivity > 1 AND ({plain})"


def plain_texts_seal() -> Iterator[tuple[str, int]]:
    """Seal all texts above internal that lie in plain, with what belongs to them, and all drafts.

    Yields per batch the name of the table and how many texts were sealed. Each batch is a transaction; an interrupted
    run is repeated. Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    for table in OWN:
        after: UUID | None = None
        while ids := _next(table, after):
            with transaction.atomic():
                yield table, _packed_seal(table, ids) + rows_seal(table, ids)
            after = ids[-1]
    for table, columns in PARTS.items():
        for column in columns:
            if column.is_version:
                yield from ((column.table, sealed) for sealed in _versions_seal(table, column))
    for column in PERSONAL:
        plain = plain_sql(column.column, column.type)
        for (person,) in fetch_rows(PERSONS_SQL.format(table=column.table, plain=plain)):
            with transaction.atomic():
                yield column.table, column_seal(column, person, person)


def plain_text_count() -> int:
    """Return the number of rows above internal whose texts lie in plain; packed ones are not counted."""
    counted = (COUNT_SQL.format(table=table, plain=_plain_sql(columns)) for table, columns in OWN.items() if columns)
    return sum(int(fetch_rows(sql)[0][0]) for sql in counted)


def _next(table: str, after: UUID | None) -> list[UUID]:
    """Return the next rows above internal; of a table whose rows have neither parts nor tiers, those in plain alone."""
    is_alone = table not in PARTS and table not in {one.name for one in THING_TABLES}
    chosen = _plain_sql(OWN[table]) if is_alone else "true"
    return [id_ for (id_,) in fetch_rows(NEXT_SQL.format(table=table, chosen=chosen, batch=BATCH), {"after": after})]


def _plain_sql(columns: Sequence[SealedColumn]) -> str:
    return f"({' OR '.join(plain_sql(one.column, one.type) for one in columns)})"


def _packed_seal(table: str, ids: list[UUID]) -> int:
    """Store packed and archived texts sealed, where they lie in plain."""
    tiers = next((one for one in THING_TABLES if one.name == table), None)
    plain = has_plain_text(tiers, ids) if tiers else []
    return len(things_move(tiers, plain, Tier.HOT)) if tiers and plain else 0


def _versions_seal(table: str, column: SealedColumn) -> Iterator[int]:
    """Seal versions that were above internal when they were saved, although their text is not any more."""
    owner = OWNERS.get(table, "agent_id").replace("agent_id", "file.agent_id").replace("team_id", "file.team_id")
    names = {"column": column.column, "owner": owner, "versions": column.table, "table": table, "batch": BATCH}
    sql = VERSIONS_SQL.format(**names, plain=plain_sql(column.column, "text", "version."))
    while rows := fetch_rows(sql):
        store_texts(column, [id_ for id_, *_ in rows], [seal_text(text, of) for _, text, of in rows])
        yield len(rows)


@register(Tags.security, deploy=True)
def check_plain_texts(**_: Any) -> list[CheckMessage]:
    """Return a warning if texts above internal lie in plain, as an earlier version of Dossier stored them."""
    try:
        plain = plain_text_count()
    except DatabaseError:  # other checks say that the database does not answer, or is not migrated
        return []
    if not plain:
        return []
    hint = "Run `manage.py seal_texts`, see docs/operations.md."
    return [DeployWarning(f"{plain:,} texts above internal lie in plain.", hint=hint, id="sealing.W001")]
