"""The one statement that writes a record: texts that are not stored yet, the assembly, its decisions. All or nothing.

Rows go as JSON, of which PostgreSQL makes columns by the types of the tables: one parameter for any number of rows, and
one prepared statement for all records.
"""

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from threading import Lock
from typing import Any

import orjson
from django.db import connection, models

from assembly.models import Assembly, Decision
from config.http.statements import Statement, rows_of

# A text that this process stored before is not sent again. Where it is gone after all, nothing is written.
# Texts in one order for everybody, so that two assemblies that share some cannot wait for each other in a circle.
RECORD = """
WITH known AS (
    SELECT count(*) = jsonb_array_length(%(known)s::jsonb) AS there FROM stored_texts
    WHERE sha256 = ANY(ARRAY(SELECT asked::bytea FROM jsonb_array_elements_text(%(known)s::jsonb) AS asked))
), stored AS (
    INSERT INTO stored_texts (sha256, text)
    SELECT sha256, text FROM jsonb_to_recordset(%(texts)s::jsonb) AS row (sha256 bytea, text text), known
    WHERE there ORDER BY sha256
    ON CONFLICT DO NOTHING
), assembly AS (
    INSERT INTO assemblies ({assembly})
    SELECT {assembly} FROM jsonb_to_record(%(assembly)s::jsonb) AS row ({assembly_types}), known WHERE there
), decided AS (
    INSERT INTO decisions ({decision})
    SELECT {decision} FROM jsonb_to_recordset(%(decisions)s::jsonb) AS row ({decision_types}), known WHERE there
)
SELECT there FROM known
"""
MOST_KNOWN = 50_000


def write(assembly: Assembly, texts: Mapping[bytes, str], decisions: Sequence[Mapping[str, Any]]) -> None:
    """Store the assembly, its decisions by column, and the texts by their SHA-256 where they are not stored yet."""
    row = {field.column: getattr(assembly, field.attname) for field in _fields(Assembly)}
    rows = {"assembly": _json(row), "decisions": _json(decisions)}
    known = stored.among(texts)
    if not _written(rows, texts, known):
        _written(rows, texts, frozenset())
    stored.add(texts)
    assembly._state.adding, assembly._state.db = False, connection.alias  # noqa: SLF001 - as Model.save does


def _written(rows: Mapping[str, str], texts: Mapping[bytes, str], known: Set[bytes]) -> bool:
    """Whether the rows were written with the texts: not where one of those known as stored is not."""
    new = [{"sha256": key, "text": text} for key, text in texts.items() if key not in known]
    ((there,),) = rows_of(Statement(_sql(), {**rows, "texts": _json(new), "known": _json([*known])}))
    return bool(there)


class _Stored:
    """Which texts this process has stored, by their SHA-256: those that it used last."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()

    def among(self, asked: Collection[bytes]) -> Set[bytes]:
        return self._known.keys() & asked

    def add(self, texts: Iterable[bytes]) -> None:
        with self._lock:
            for key in texts:
                self._known[key] = None
                self._known.move_to_end(key)
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def forget(self) -> None:
        with self._lock:
            self._known.clear()


stored = _Stored()


@cache
def _sql() -> str:
    names = {}
    for name, model in (("assembly", Assembly), ("decision", Decision)):
        columns = [(f'"{field.column}"', _type_of(field)) for field in _fields(model)]
        names[name] = ", ".join(column for column, _ in columns)
        names[f"{name}_types"] = ", ".join(f"{column} {kind}" for column, kind in columns)
    return RECORD.format(**names)


@cache
def _fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    """All but those that the database numbers."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's documented introspection
    return tuple(field for field in fields if not isinstance(field, models.AutoField))


def _type_of(field: "models.Field[Any, Any]") -> str:
    """Of a limited text, just text: a longer one is to be refused by the table, not cut."""
    return "text" if isinstance(field, models.CharField) else str(field.db_type(connection))


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=_text).decode()
    except TypeError:  # of whole numbers beyond 64 bits
        return json.dumps(value, default=_text)


def _text(value: Any) -> str:
    """As PostgreSQL reads it: bytes in hexadecimal, moments and ids as they print."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
