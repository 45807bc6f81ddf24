"""What is sealed together with a row: its versions, passages, chunks, levels of detail, drafts, and what belongs to it.

The database refuses to raise a row above internal while a text of these is plain, so they are sealed first, in the
transaction that raises the row. When a row is lowered, what search reads of it is opened again; its versions stay
sealed, which is seen by nobody but who reads the tables.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models.signals import post_save, pre_save
from django.dispatch import receiver

from config.db.sealed_columns import MARK_SQL, plain_sql
from config.db.statements import execute_sql, fetch_rows
from config.keys.sealed_texts import open_texts, seal_text
from teams.sealing.fields import key_owner
from teams.sensitivity import DEFAULT_LEVEL, Sensitive

BATCH = 200


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column with texts of a table whose key is `id`. `whole` is the column with the id of the row that they belong
    to, or with its ref, beginning with `prefix`. Versions are changed by a function of the database alone.
    """

    table: str
    column: str
    whole: str
    prefix: str = ""
    type: str = "text"
    key: str = "uuid"
    is_version: bool = False
    is_searched: bool = False
    """Whether the texts are opened when the row is lowered, so that search finds their words."""

    def of(self, id_: UUID) -> str:
        """Return how the column `whole` names the row."""
        return f"{self.prefix}{id_}"


def _versions(table: str) -> SealedColumn:
    return SealedColumn(table, "content", "file_id", is_version=True)


def _of_file(kind: str, versions: str) -> tuple[SealedColumn, ...]:
    return (
        _versions(versions),
        SealedColumn("file_passages", "text", "file_id", key="bigint", is_searched=True),
        *LEVELS,
        SealedColumn("drafts", "content", "about", f"{kind}:"),
        SealedColumn("texts_set_aside", "content", "about", f"{kind}:"),
    )


LEVELS = (SealedColumn("text_levels", "text", "item", key="bigint"),)
_GOAL_COLUMNS = ("goal", "result")


def _goals(whole: str) -> tuple[SealedColumn, ...]:
    return tuple(SealedColumn("task_frames", column, whole) for column in _GOAL_COLUMNS)


OWN: Mapping[str, tuple[SealedColumn, ...]] = {
    "memories": (SealedColumn("memories", "text", "id"),),
}
"""The columns with texts of rows that have a level and owners of their own, by table."""
OWNERS = {"memories": "coalesce(agent_id, team_id)"}
"""SQL of the owner under whose key the texts of a row are sealed; the agent's id in all other tables."""
PARTS: Mapping[str, tuple[SealedColumn, ...]] = {
    "memories": (_versions("memory_versions"), *LEVELS),
    "agent_md_files": _of_file("agent_file", "agent_md_file_versions"),
    "team_md_files": _of_file("team_file", "team_md_file_versions"),
    "organisation_files": _of_file("organisation_file", "organisation_file_versions"),
    "daily_logs": _of_file("daily_log", "daily_log_versions"),
    "documents": (SealedColumn("chunks", "text", "document_id", key="bigint", is_searched=True), *LEVELS),
}
"""The columns with texts that are sealed together with a row, by its table."""
NESTED: Mapping[str, Mapping[str, str]] = {}
"""The tables of rows that are raised with a row and have parts themselves, with the column that names it, by table."""

OWNERS_SQL = "SELECT id, {owner} FROM {table} WHERE id = ANY(%(ids)s::uuid[])"
NEXT_SQL = """
SELECT id, {column}::text FROM {table} WHERE {whole} = %(whole)s AND {condition} ORDER BY id LIMIT {batch}
"""
STORE_SQL = """
UPDATE {table} SET {column} = made.text::{type}
FROM unnest(%(ids)s::{key}[], %(texts)s::text[]) AS made (id, text) WHERE {table}.id = made.id
"""
STORE_VERSIONS_SQL = "SELECT seal_versions(%(table)s, %(ids)s::uuid[], %(texts)s::text[])"


@receiver(pre_save, dispatch_uid="teams.seal_parts")
def seal_parts_of_raised(sender: type[Any], instance: Any, **_: Any) -> None:
    """Seal what belongs to a row that is about to be raised above internal."""
    if (
        isinstance(instance, Sensitive)
        and instance.sensitivity > DEFAULT_LEVEL
        and not instance._state.adding  # noqa: SLF001 - Django's documented name
        and instance.stored_level <= DEFAULT_LEVEL
    ):
        parts_seal(sender._meta.db_table, instance.pk, key_owner(instance))  # noqa: SLF001


@receiver(post_save, dispatch_uid="teams.open_parts")
def open_parts_of_lowered(sender: type[Any], instance: Any, **_: Any) -> None:
    """Open what search reads of a row that was lowered to internal or below."""
    if not isinstance(instance, Sensitive):
        return
    if instance.stored_level > DEFAULT_LEVEL >= instance.sensitivity:
        parts_open(sender._meta.db_table, instance.pk)  # noqa: SLF001
    instance.stored_level = instance.sensitivity


def rows_seal(table: str, ids: Collection[UUID]) -> None:
    """Seal the texts of rows of this table, and what belongs to them, before a statement raises the rows.

    Packed texts have to be stored as they were written first. Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    sql = OWNERS_SQL.format(table=table, owner=OWNERS.get(table, "agent_id"))
    for id_, owner in fetch_rows(sql, {"ids": list(ids)}):
        for column in OWN.get(table, ()):
            _seal(column, id_, owner)
        parts_seal(table, id_, owner)


def parts_seal(table: str, id_: UUID, owner: UUID) -> None:
    """Seal the texts that belong to a row of this table, under the key of its owner.

    Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    for column in PARTS.get(table, ()):
        _seal(column, id_, owner)
    for part, whole in NESTED.get(table, {}).items():
        for (inner,) in fetch_rows(f"SELECT id FROM {part} WHERE {whole} = %s", [id_]):  # noqa: S608 - constants
            parts_seal(part, inner, owner)


def _seal(column: SealedColumn, id_: UUID, owner: UUID) -> None:
    for ids, texts in _batches(column, id_, plain_sql(column.column, column.type)):
        store_texts(column, ids, [seal_text(text, owner) for text in texts])


def parts_open(table: str, id_: UUID) -> None:
    """Open the searched texts that belong to a row of this table, where they are not above internal any more."""
    for column in PARTS.get(table, ()):
        if column.is_searched:
            condition = f"sensitivity <= {int(DEFAULT_LEVEL)} AND starts_with({column.column}, {MARK_SQL})"
            for ids, texts in _batches(column, id_, condition):
                store_texts(column, ids, open_texts(texts))


def _batches(column: SealedColumn, id_: UUID, condition: str) -> Iterator[tuple[list[Any], list[str]]]:
    """Yield ids and texts of the rows with this condition, which does not hold any more when they are stored."""
    names = {"table": column.table, "column": column.column, "whole": column.whole}
    sql = NEXT_SQL.format(**names, condition=condition, batch=BATCH)
    while rows := fetch_rows(sql, {"whole": column.of(id_)}):
        yield [id_ for id_, _ in rows], [text for _, text in rows]


def store_texts(column: SealedColumn, ids: Collection[Any], texts: Collection[str]) -> None:
    """Store texts in a column, sealed or opened, by the ids of their rows."""
    values = {"ids": list(ids), "texts": [json.dumps(one) for one in texts] if column.type == "jsonb" else list(texts)}
    if column.is_version:
        execute_sql(STORE_VERSIONS_SQL, {"table": column.table, **values})
    else:
        names = {"table": column.table, "column": column.column, "type": column.type, "key": column.key}
        execute_sql(STORE_SQL.format(**names), values)
