"""The one door to a thing's text: whatever tier the thing is in, readers get its text as it was written.

Models declare the text as TieredText, TieredJson or TieredPassage. Their SELECTs do not read the column, but an
expression: the text of a hot row as it is, that of others with a mark, by which Python unpacks it. Statements that are
not the ORM's select `text_sql`, and pass what they get to `read_text`. Filters see the column, which is NULL for a
packed or frozen text.
"""

import base64
import json
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import models

from config.db.sealed_columns import written_octets_sql
from config.keys.sealed_texts import open_text
from memories.lifecycle.frozen_texts import thaw
from memories.lifecycle.packing import unpack
from teams.sealing.fields import (
    SealedJson,
    SealedText,
    UnreadableText,
    open_json,
    require_readable,
)

MARK = f"\x02{secrets.token_hex(8)}"
"""The beginning of texts that are to be unpacked. It is never stored, and each process has its own, so no stored text
can begin with it by intent.
"""
PACKED, FROZEN, PASSAGE = "p", "f", "s"

_COLUMN = re.compile(r'(?P<row>"?\w+"?)\."?(?P<column>\w+)"?')


def text_sql(row: str, column: str = "text") -> str:
    """Return the SQL expression to select for the text of a row; `row` is the table or its alias."""
    return (
        f"coalesce({row}.{column}, '{MARK}{PACKED}' || encode({row}.packed, 'base64'),"
        f" '{MARK}{FROZEN}' || {row}.frozen::text)"
    )


def json_sql(row: str, column: str) -> str:
    """Return the SQL expression to select for a JSON value that is stored in tiers."""
    return (
        f"coalesce({row}.{column}, to_jsonb(coalesce('{MARK}{PACKED}' || encode({row}.packed, 'base64'),"
        f" '{MARK}{FROZEN}' || {row}.frozen::text)))"
    )


def passage_sql(row: str, of_document: str = "") -> str:
    """Return the SQL expression to select for the text of a chunk, which may be a part of its packed document.

    `of_document` is a further condition on the row `document`, with AND before it.
    """
    whole = text_sql("document", "content")
    part = f"'{MARK}{PASSAGE}' || {row}.start || ':' || {row}.\"end\" || ':' || {whole}"
    read = f"SELECT {part} FROM documents AS document WHERE document.id = {row}.document_id{of_document}"  # noqa: S608
    return f"coalesce({row}.text, ({read}))"


def octets_sql(row: str, column: str = "text") -> str:
    """Return the SQL expression of a text's size in bytes, whatever tier it is in, sealed or not."""
    written = written_octets_sql(f"{row}.{column}")
    octets = f"CASE WHEN {row}.sensitivity > 1 THEN {written} ELSE octet_length({row}.{column}) END"
    return f"coalesce({octets}, {row}.text_bytes)"


def read_text(selected: str) -> str:
    """Return the text for what `text_sql` or `passage_sql` selected. Raises FrozenTextUnreachable."""
    return open_text(stored_text(selected))


def stored_text(selected: str) -> str:
    """Return the text as its row has it, unpacked and still sealed, for what `text_sql` or `passage_sql` selected.

    Raises FrozenTextUnreachable.
    """
    if not selected.startswith(MARK):
        return selected
    kind, rest = selected[len(MARK)], selected[len(MARK) + 1 :]
    if kind == PACKED:
        return unpack(base64.b64decode(rest))
    if kind == FROZEN:
        return thaw(json.loads(rest))
    start, end, whole = rest.split(":", 2)
    return read_text(whole)[int(start) : int(end)]


class PutOff(str):
    """What was selected for a frozen text that is read later, see `put_off_frozen_texts`."""


class UnreadableJson(dict[str, Any]):
    """A notice that lists show instead of a JSON value that cannot be read now, with the error that says why."""

    def __init__(self, error: Exception) -> None:
        super().__init__(text=UnreadableText.because(error))
        self.error = error


_puts_off: ContextVar[bool] = ContextVar("puts_off_frozen_texts", default=False)


@contextmanager
def put_off_frozen_texts() -> Iterator[None]:
    """Rows that are read meanwhile have a PutOff in place of a frozen text. The caller must replace each of them."""
    token = _puts_off.set(True)
    try:
        yield
    finally:
        _puts_off.reset(token)


def _put_off(selected: Any) -> PutOff | None:
    is_frozen = isinstance(selected, str) and selected.startswith(f"{MARK}{FROZEN}")
    return PutOff(selected) if is_frozen and _puts_off.get() else None


class TieredText(SealedText):
    """A text that is stored in tiers; reading it gives the text as it was written."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored. Raises FrozenTextUnreachable for a notice that it cannot be read."""
        require_readable(getattr(model_instance, self.attname))
        return super().pre_save(model_instance, add)

    def select_format(self, compiler: Any, sql: str, params: Any) -> Any:
        found = _COLUMN.fullmatch(sql)
        return (self.selected_sql(found["row"], found["column"]) if found else sql), params

    def selected_sql(self, row: str, column: str) -> str:
        """Return the expression that is selected instead of the column."""
        return text_sql(row, column)

    def from_db_value(self, value: str | None, _expression: Any, _connection: Any) -> str | None:
        """Return the text of what was selected."""
        return value if value is None else _put_off(value) or read_text(value)


class TieredPassage(TieredText):
    """The text of a chunk, which is read from its document where that is packed."""

    def selected_sql(self, row: str, column: str) -> str:
        """Return the expression that is selected instead of the column."""
        return passage_sql(row)


class TieredJson(SealedJson):
    """A JSON value that is stored in tiers; reading it gives the value as it was written."""

    def select_format(self, compiler: Any, sql: str, params: Any) -> Any:
        found = _COLUMN.fullmatch(sql)
        return (json_sql(found["row"], found["column"]) if found else sql), params

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value as it is stored. Raises FrozenTextUnreachable for a notice that it cannot be read."""
        value = getattr(model_instance, self.attname)
        if isinstance(value, UnreadableJson):
            raise value.error
        return super().pre_save(model_instance, add)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the JSON value of what was selected."""
        selected = models.JSONField.from_db_value(self, value, expression, connection)
        return _put_off(selected) or read_json(selected)


def read_json(selected: Any) -> Any:
    """Return the JSON value for what `json_sql` selected."""
    is_packed = isinstance(selected, str) and selected.startswith(MARK)
    return written_json(stored_text(selected)) if is_packed else open_json(selected)


def written_json(stored: str) -> Any:
    """Return the JSON value as it was written, for its JSON text as the row has it."""
    return open_json(json.loads(stored))


class _TieredSize(models.Func):
    """A size of a stored text, which a row keeps when its text is not in its column; of a sealed one, in bytes."""

    output_field = models.IntegerField()
    kept_in: str

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        sql, params = super().as_sql(compiler, connection, *args, **extra)
        column, _ = compiler.compile(self.source_expressions[0])
        found = _COLUMN.fullmatch(column)
        if not found:
            return sql, params
        size = f"CASE WHEN {found['row']}.sensitivity > 1 THEN {written_octets_sql(column)} ELSE {sql} END"
        return f"coalesce({size}, {found['row']}.{self.kept_in})", params


class TieredOctets(_TieredSize):
    """The size of a stored text in bytes, which PostgreSQL knows without reading a long text."""

    function, kept_in = "octet_length", "text_bytes"


class TieredCharacters(_TieredSize):
    """The number of characters of a stored text."""

    function, kept_in = "char_length", "text_characters"
