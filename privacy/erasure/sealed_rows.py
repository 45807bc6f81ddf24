"""Sealed texts are searched and erased in batches: PostgreSQL cannot read them, so they are opened here.

What is stored again is sealed under the same key. Versions, which the role of the app cannot change, are changed by a
database function that refuses to work without a running erasure.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from assembly.models.assembly import ERASED
from config.db.sealed_columns import sealed_sql, stored_text_sql
from config.db.statements import fetch_rows
from config.keys.sealed_texts import is_sealed, owner_of
from privacy.erasure.places import Place, Treatment
from privacy.erasure.sought import Sought
from teams.sealing.columns import SealedColumn, sealed_columns
from teams.sealing.parts import opened_values, sealed_value

BATCH = 200
NEXT_SQL = """
SELECT id::text, {text}, coalesce({thing}::text = ANY(%(spared)s), false) FROM {table}
WHERE {sealed} AND (%(after)s::{key} IS NULL OR id > %(after)s::{key}) ORDER BY id LIMIT {batch}
"""
REPLACE_SQL = "SELECT erase_sealed_texts(%s, %s, %s, %s::text[], %s::text[], %s::text[])"
DELETE_SQL = "SELECT erase_sealed_rows(%s, %s, %s::text[])"


@dataclass(frozen=True, slots=True)
class SealedRow:
    """A row with a sealed text in which a spelling stands: its key, what it is stored as, and the text."""

    key: str
    stored: str
    text: str


def sealed_keys(place: Place, sought: Sought) -> list[str]:
    """Return the keys of the rows of a place in whose sealed texts a spelling stands, each once."""
    found = (row.key for column in _columns(place) for batch in _batches(place, column, sought) for row in batch)
    return list(dict.fromkeys(found))


def sealed_rows_erase(place: Place, sought: Sought) -> set[str]:
    """Replace the spellings in the sealed texts of a place, or delete the rows; return the keys of the rows."""
    changed: set[str] = set()
    for column in _columns(place):
        for batch in _batches(place, column, sought):
            keys = [row.key for row in batch]
            changed.update(keys)
            if place.treatment is Treatment.DELETED:
                fetch_rows(DELETE_SQL, [sought.erasure, place.table, keys])
                continue
            texts = [_replaced(column, row.text, sought) for row in batch]
            sealed = [
                sealed_value(column, text, _owner_of(column, row.stored))
                for row, text in zip(batch, texts, strict=True)
            ]
            stored = [json.dumps(one) for one in sealed] if column.type == "jsonb" else sealed
            hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
            fetch_rows(REPLACE_SQL, [sought.erasure, place.table, column.column, keys, stored, hashes])
    return changed


def _columns(place: Place) -> list[SealedColumn]:
    return [one for one in sealed_columns().get(place.table, ()) if one.column in place.columns]


def _batches(place: Place, column: SealedColumn, sought: Sought) -> Iterator[list[SealedRow]]:
    """Yield the rows in whose sealed texts a spelling stands, batch by batch; things to be spared are left out."""
    names = {"table": place.table, "thing": place.thing, "key": column.key, "batch": BATCH}
    text, sealed = stored_text_sql(column.column, column.type), sealed_sql(column.column, column.type)
    sql = NEXT_SQL.format(**names, text=text, sealed=sealed)
    after: str | None = None
    while rows := fetch_rows(sql, {"spared": sought.spared_texts, "after": after}):
        texts = opened_values(column, [stored for _, stored, _ in rows])
        found = [
            SealedRow(key, stored, text)
            for (key, stored, is_spared), text in zip(rows, texts, strict=True)
            if not is_spared and _is_in(place, column, text, sought)
        ]
        if found:
            yield found
        after = rows[-1][0]


def _is_in(place: Place, column: SealedColumn, text: str, sought: Sought) -> bool:
    if place.treatment is Treatment.DELETED:
        return sought.patterns.may_be_in(text)
    value: Any = text if column.type == "text" else json.loads(text)
    return sought.patterns.is_in_value(value)


def _owner_of(column: SealedColumn, stored: str) -> UUID:
    return owner_of(next(filter(is_sealed, json.loads(stored))) if column.type == "text[]" else stored)


def _replaced(column: SealedColumn, text: str, sought: Sought) -> str:
    if column.type == "text":
        # Names are unique, sealed or not, so each gets a note of its own.
        note = f"[erased {secrets.token_hex(4)}]" if column.is_name else ERASED
        return sought.patterns.replaced(text, note)
    return json.dumps(sought.patterns.replaced_value(json.loads(text)), ensure_ascii=False)
