"""Rows are ordered by a text that may be sealed: the database cannot do it, so the texts are opened and compared here.

It is for tables with few rows for a reader, such as the organisation's files: every text of the column is read.
"""

from collections.abc import Collection
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, IntegerField, QuerySet, UUIDField, Value


class NamedRow(NamedTuple):
    """A row by the text that names it, and by another column that orders rows of the same name."""

    name: str
    then: Any
    id: UUID


def rows_by_name(rows: QuerySet[Any], column: str, then: str = "id") -> list[NamedRow]:
    """Return the names and ids of the rows in the order of their names, whatever their case; one query."""
    found = [NamedRow(*row) for row in rows.order_by().values_list(column, then, "id")]
    return sorted(found, key=lambda row: (row.name.casefold(), row.then))


def in_order_of(ids: Collection[UUID]) -> Func:
    """Return the expression by which rows are ordered as these ids are; rows with other ids come last."""
    listed = Value(list(ids), output_field=ArrayField(UUIDField()))
    return Func(listed, F("id"), function="array_position", output_field=IntegerField())
