"""What is sealed together with a row: its versions, passages, chunks, levels of detail, drafts, and what belongs to it.

The database refuses to raise a row above internal while a text of these is plain, so they are sealed first, in the
transaction that raises the row. When a row is lowered, what search reads of it is opened again; its versions stay
sealed, which is seen by nobody but who reads the tables.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.signals import post_save, pre_save
from django.dispatch import receiver

from config.db.sealed_columns import plain_sql, sealed_sql, stored_text_sql
from config.db.statements import execute_sql, fetch_rows
from config.keys.sealed_texts import is_sealed, open_texts, seal_names, seal_text
from teams.sealing.columns import LEVELLED, NESTED, OWN, OWNERS, PARTS, SealedColumn
from teams.sealing.fields import key_owner
from teams.sensitivity import DEFAULT_LEVEL, Sensitive

BATCH = 200
OWNERS_SQL = "SELECT id, {owner} FROM {table} WHERE id = ANY(%(ids)s::uuid[])"
NEXT_SQL = """
SELECT id, {text} FROM {table} WHERE {whole} = %(whole)s AND {condition}
    AND (%(after)s::{key} IS NULL OR id > %(after)s::{key}) ORDER BY id LIMIT {batch} {locked}
"""
LOCKED_SQL = "FOR NO KEY UPDATE"
"""Nobody changes a text between the moments when it is read and when it is stored sealed; nobody changes versions and
records.
"""
STORE_SQL = """
UPDATE {table} SET {column} = {value}
FROM unnest(%(ids)s::{key}[], %(texts)s::text[]) AS made (id, text) WHERE {table}.id = made.id
"""
NAMES_SQL = "ARRAY(SELECT jsonb_array_elements_text(made.text::jsonb))"
STORE_VERSIONS_SQL = "SELECT seal_versions(%(table)s, %(column)s, %(ids)s::uuid[], %(texts)s::text[])"
STORE_RECORDS_SQL = "SELECT seal_records(%(table)s, %(column)s, %(ids)s::text[], %(texts)s::text[])"
LEVELS_SQL = "SELECT text_sha256, level, deriver, text FROM text_levels WHERE item = %s"
FORGET_LEVELS_SQL = "SELECT prune_levels(%s, '{}')"
STORE_LEVELS_SQL = """
INSERT INTO text_levels (item, text_sha256, level, deriver, text)
SELECT * FROM unnest(%s::uuid[], %s::bytea[], %s::text[], %s::text[], %s::text[])
"""


@receiver(pre_save, dispatch_uid="teams.seal_parts")
def seal_parts_of_raised(sender: type[Any], instance: Any, **_: Any) -> None:
    """Seal what belongs to a row that is about to be raised above internal."""
    if (
        isinstance(instance, Sensitive)
        and instance.sensitivity > DEFAULT_LEVEL
        and not instance._state.adding  # noqa: SLF001 - Django's documented name
        and instance.stored_level <= DEFAULT_LEVEL
    ):
        with transaction.atomic():
            parts_seal(sender._meta.db_table, instance.pk, key_owner(instance))  # noqa: SLF001


@receiver(post_save, dispatch_uid="teams.open_parts")
def open_parts_of_lowered(sender: type[Any], instance: Any, **_: Any) -> None:
    """Open what search reads of a row that was lowered to internal or below."""
    if not isinstance(instance, Sensitive):
        return
    if instance.stored_level > DEFAULT_LEVEL >= instance.sensitivity:
        parts_open(sender._meta.db_table, instance.pk)  # noqa: SLF001
    instance.stored_level = instance.sensitivity


def rows_seal(table: str, ids: Collection[UUID]) -> int:
    """Seal the texts of rows of this table, and what belongs to them, before a statement raises the rows.

    Packed texts have to be stored as they were written first. Returns how many texts were plain. Raises
    KeyStoreMissing and KeyStoreUnavailable.
    """
    if table not in OWN:
        return 0
    sealed = 0
    sql = OWNERS_SQL.format(table=table, owner=OWNERS.get(table, "agent_id"))
    for id_, owner in fetch_rows(sql, {"ids": list(ids)}):
        sealed += sum(column_seal(column, id_, owner) for column in OWN[table])
        sealed += parts_seal(table, id_, owner)
    return sealed


def parts_seal(table: str, id_: UUID, owner: UUID) -> int:
    """Seal the texts that belong to a row of this table, under the key of its owner; return how many were plain.

    Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    sealed = sum(column_seal(column, id_, owner) for column in PARTS.get(table, ()))
    if table in LEVELLED:
        sealed += _levels_seal(id_, owner)
    for part, whole in NESTED.get(table, ()):
        for (inner,) in fetch_rows(f"SELECT id FROM {part} WHERE {whole} = %s", [id_]):  # noqa: S608 - constants
            sealed += parts_seal(part, inner, owner)
    return sealed


def column_seal(column: SealedColumn, whole: Any, owner: UUID) -> int:
    """Seal the texts of a column that belong to this row; return how many were plain."""
    sealed = 0
    for ids, texts in _batches(column, whole, plain_sql(column.column, column.type)):
        store_texts(column, ids, [sealed_value(column, text, owner) for text in texts])
        sealed += len(ids)
    return sealed


def sealed_value(column: SealedColumn, text: str, owner: UUID) -> str:
    """Return a text of a column sealed; of a list of names, the JSON text of the list."""
    if column.type == "text[]":
        return json.dumps(seal_names(json.loads(text), owner))
    if column.is_name and text:
        return seal_names([text], owner)[0]
    return seal_text(text, owner)


def opened_values(column: SealedColumn, stored: Sequence[str]) -> list[str]:
    """Return the stored texts of a column as they were written; of lists of names, the JSON texts of the lists."""
    if column.type != "text[]":
        return open_texts(stored)
    return [json.dumps(open_texts(json.loads(names)), ensure_ascii=False) for names in stored]


def _levels_seal(item: UUID, owner: UUID) -> int:
    """Store the levels of detail of a row's texts again, sealed: they can be deleted and added, not changed."""
    rows = fetch_rows(LEVELS_SQL, [item])
    plain = sum(not is_sealed(text) for *_, text in rows)
    if plain:
        fetch_rows(FORGET_LEVELS_SQL, [item])
        sealed = [(item, *others, text if is_sealed(text) else seal_text(text, owner)) for *others, text in rows]
        execute_sql(STORE_LEVELS_SQL, [list(column) for column in zip(*sealed, strict=True)])
    return plain


def rows_open(table: str, ids: Collection[UUID]) -> None:
    """Open the texts of rows of this table which are not above internal any more, and what search reads of them."""
    for id_ in ids:
        for column in OWN.get(table, ()):
            _open(column, id_)
        parts_open(table, id_)


def parts_open(table: str, id_: UUID) -> None:
    """Open the searched texts that belong to a row of this table, where they are not above internal any more."""
    for column in PARTS.get(table, ()):
        if column.is_searched:
            _open(column, id_)


def _open(column: SealedColumn, id_: UUID) -> None:
    condition = f"sensitivity <= {int(DEFAULT_LEVEL)} AND {sealed_sql(column.column, column.type)}"
    for ids, stored in _batches(column, id_, condition):
        written = dict(zip(ids, opened_values(column, stored), strict=True))
        # One that looks like a sealed text by itself stays sealed.
        opened = {key: text for key, text in written.items() if not _looks_sealed(column, text)}
        store_texts(column, list(opened), list(opened.values()))


def _looks_sealed(column: SealedColumn, text: str) -> bool:
    if column.type == "text[]":
        return any(map(is_sealed, json.loads(text)))
    return is_sealed(json.loads(text) if column.type == "jsonb" else text)


def _batches(column: SealedColumn, id_: UUID, condition: str) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield ids and texts of the rows with this condition, in the order of their ids."""
    text = stored_text_sql(column.column, column.type)
    names = {"table": column.table, "text": text, "whole": column.whole, "key": column.key, "batch": BATCH}
    sql = NEXT_SQL.format(
        **names, condition=condition, locked="" if column.is_version or column.is_record else LOCKED_SQL
    )
    after: Any = None
    while rows := fetch_rows(sql, {"whole": column.of(id_), "after": after}):
        yield [id_ for id_, _ in rows], [text for _, text in rows]
        after = rows[-1][0]


def store_texts(column: SealedColumn, ids: Collection[Any], texts: Collection[str]) -> None:
    """Store texts in a column, sealed or opened, by the ids of their rows. Of JSON, they are JSON texts if opened, and
    of lists of names always.
    """
    is_json = column.type == "jsonb"
    values = {"ids": list(ids), "texts": [json.dumps(one) if is_json and is_sealed(one) else one for one in texts]}
    if column.is_version:
        fetch_rows(STORE_VERSIONS_SQL, {"table": column.table, "column": column.column, **values})
    elif column.is_record:
        names = {"table": column.table, "column": column.column}
        fetch_rows(STORE_RECORDS_SQL, {**names, "ids": [str(id_) for id_ in ids], "texts": values["texts"]})
    else:
        value = NAMES_SQL if column.type == "text[]" else f"made.text::{column.type}"
        names = {"table": column.table, "column": column.column, "value": value, "key": column.key}
        execute_sql(STORE_SQL.format(**names), values)
