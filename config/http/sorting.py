"""Tables are sorted by the column whose head was pressed: `?sort=name`, or `?sort=-name` for the reverse order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from django.db.models import F, Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import Promise

RowType = TypeVar("RowType", bound=Model)


@dataclass(frozen=True, slots=True)
class SortableColumn:
    """A column that sorts by `fields` of the rows; without `is_ascending`, the first press begins with the largest."""

    key: str
    label: str | Promise
    css: str = ""
    fields: tuple[str, ...] = ()
    is_ascending: bool = True


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """The head of a column; `address` sorts by it, or reverses the order if it is sorted by it already."""

    label: str
    css: str
    address: str
    order: str
    """The value of `aria-sort`: ascending, descending, or empty if another column sorts the table."""


def column_heads(columns: Sequence[SortableColumn], sort: str, address: Callable[[str], str]) -> list[ColumnHead]:
    """Return the heads of a table that is sorted by `sort`. `address` returns the table's address, sorted otherwise."""
    heads = []
    for column in columns:
        order = {column.key: "ascending", f"-{column.key}": "descending"}.get(sort, "")
        first, other = column.key, f"-{column.key}"
        if not column.is_ascending:
            first, other = other, first
        heads.append(ColumnHead(str(column.label), column.css, address(other if sort == first else first), order))
    return heads


def sorted_by_request(
    rows: QuerySet[RowType], request: HttpRequest, columns: Sequence[SortableColumn], default: str
) -> tuple[QuerySet[RowType], list[ColumnHead]]:
    """Return the rows in the order that the request asks for, or else the default, and the heads of the columns.

    Rows without a value come last in both orders.
    """
    known = {f"{sign}{column.key}": column for column in columns for sign in ("", "-")}
    asked = request.GET.get("sort", "")
    sort = asked if asked in known else default
    is_reversed = sort.startswith("-")
    kept = {name: value for name, value in request.GET.items() if name not in {"sort", "page"}}

    def address(other: str) -> str:
        return f"{request.path}?{urlencode({**kept, 'sort': other}, errors='replace')}"

    values = [F(field) for field in known[sort].fields]
    order = [value.desc(nulls_last=True) if is_reversed else value.asc(nulls_last=True) for value in values]
    return rows.order_by(*order, "pk"), column_heads(columns, sort, address)
