"""Lists are paged: `{results, next}`, with an opaque cursor that remains correct while rows are added and deleted."""

import base64
import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import FloatField, Model, Q, QuerySet

from config.http.errors import Invalid

DEFAULT_LIMIT = 50
MAX_LIMIT = 200

RowType = TypeVar("RowType", bound=Model)
ItemType = TypeVar("ItemType")


def page_of(
    rows: QuerySet[RowType],
    query: Mapping[str, str],
    keys: tuple[str, ...] = ("created", "id"),
    *,
    ascending: bool = False,
    page_size: int = DEFAULT_LIMIT,
) -> tuple[list[RowType], str]:
    """Return a page of rows, with the greatest keys first, and the cursor of the next page, "" if there is none.

    The keys together must be unique; with `ascending`, the least come first. `query` may have `cursor` and `limit` (1
    to MAX_LIMIT, by default `page_size`). Raises Invalid.
    """
    limit = limit_of(query.get("limit", ""), page_size)
    if cursor := query.get("cursor", ""):
        rows = rows.filter(_after_cursor(rows.model, keys, cursor, "gt" if ascending else "lt"))
    found = list(rows.order_by(*(key if ascending else f"-{key}" for key in keys))[: limit + 1])
    if len(found) <= limit:
        return found, ""
    return found[:limit], encode_cursor([getattr(found[limit - 1], key) for key in keys])


def page_of_sequence(items: Sequence[ItemType], query: Mapping[str, str]) -> tuple[Sequence[ItemType], str]:
    """Return a page of a sequence whose items never move, and the cursor of the next page, as `page_of` does."""
    limit, begin = limit_of(query.get("limit", "")), _decode_place(query.get("cursor", ""))
    end = begin + limit
    return items[begin:end], encode_cursor([end]) if end < len(items) else ""


def next_page_url(path: str, query: Mapping[str, str], cursor: str) -> str | None:
    """Return the address of the next page, with all other parameters; None after the last page."""
    return f"{path}?{urlencode({**query, 'cursor': cursor})}" if cursor else None


def limit_of(text: str, default: int = DEFAULT_LIMIT, most: int = MAX_LIMIT) -> int:
    """Return the number of rows in `?limit=`: 1 to `most`. Raises Invalid."""
    if not text:
        return default
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and 1 <= int(text) <= most:
        return int(text)
    raise Invalid("limit", f"Use a whole number from 1 to {most}.")


def encode_cursor(values: Sequence[Any]) -> str:
    """Return the cursor of the page after the row with these keys."""
    return base64.urlsafe_b64encode(json.dumps([*values], cls=DjangoJSONEncoderExact).encode()).decode().rstrip("=")


class DjangoJSONEncoderExact(DjangoJSONEncoder):
    """A JSON encoder that keeps microseconds. Django's encoder truncates them, and a cursor would lose its position."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if hasattr(o, "isoformat") else super().default(o)


def is_naive(value: Any) -> bool:
    """Return whether the value is a time without an offset, which no valid cursor has."""
    return isinstance(value, datetime.datetime) and value.tzinfo is None


def _is_misplaced(value: Any, field: Any) -> bool:
    """Return whether the value is a float although the field has no floats."""
    return isinstance(value, float) and not isinstance(field, FloatField)


def _decode_place(cursor: str) -> int:
    """Return the index at which a page begins, 0 without a cursor. Raises Invalid."""
    if not cursor:
        return 0
    values = _decode_cursor(cursor)
    if len(values) != 1 or type(values[0]) is not int or values[0] < 0:
        raise _invalid_cursor_error()
    return values[0]


def _decode_cursor(cursor: str) -> list[Any]:
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        raise _invalid_cursor_error() from None
    if not isinstance(values, list):
        raise _invalid_cursor_error()
    return values


def _invalid_cursor_error() -> Invalid:
    return Invalid("cursor", "Use the cursor of `next` without changes, or omit it to start again.")


def decode_keys(model: type[Model], keys: tuple[str, ...], cursor: str) -> list[Any]:
    """Return the keys of the row after which the page begins. Raises Invalid."""
    values = _decode_cursor(cursor)
    try:
        fields = [model._meta.get_field(key) for key in keys]  # noqa: SLF001 - Django's documented introspection
        parsed = [field.to_python(value) for field, value in zip(fields, values, strict=True)]  # type: ignore[union-attr]
        if any(_is_misplaced(value, field) for value, field in zip(values, fields, strict=True)) or any(
            value is None or is_naive(value) for value in parsed
        ):
            raise ValueError(cursor)  # noqa: TRY301 - one sentence for every cursor that is not ours
    except (ValueError, TypeError, OverflowError, ValidationError, RecursionError):
        raise _invalid_cursor_error() from None
    return parsed


def _after_cursor(model: type[Model], keys: tuple[str, ...], cursor: str, beyond: str) -> Q:
    condition, equal = Q(pk__in=[]), Q()
    for key, value in zip(keys, decode_keys(model, keys, cursor), strict=True):
        condition |= equal & Q(**{f"{key}__{beyond}": value})
        equal &= Q(**{key: value})
    return condition
