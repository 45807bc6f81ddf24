"""The one statement that writes a record: texts that are not stored yet, the assembly, its decisions. All or nothing.

Rows go as JSON, of which PostgreSQL makes columns by the types of the tables: one parameter for any number of rows, and
one prepared statement for all records.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import connection, models

from assembly.models import Assembly, Decision
from assembly.statements import Statement, execute

# Texts in one order for everybody, so that two assemblies that share some cannot wait for each other in a circle.
RECORD = """
WITH stored AS (
    INSERT INTO stored_texts (sha256, text)
    SELECT sha256, text FROM jsonb_to_recordset(%(texts)s::jsonb) AS row (sha256 bytea, text text) ORDER BY sha256
    ON CONFLICT DO NOTHING
), assembly AS (
    INSERT INTO assemblies ({assembly})
    SELECT {assembly} FROM jsonb_to_record(%(assembly)s::jsonb) AS row ({assembly_types})
)
INSERT INTO decisions ({decision})
SELECT {decision} FROM jsonb_to_recordset(%(decisions)s::jsonb) AS row ({decision_types})
"""


def write(assembly: Assembly, texts: Mapping[bytes, str], decisions: Sequence[Mapping[str, Any]]) -> None:
    """Store the assembly, its decisions by column, and the texts by their SHA-256 where they are not stored yet."""
    row = {field.column: getattr(assembly, field.attname) for field in _fields(Assembly)}
    execute(
        Statement(
            _sql(),
            {
                "texts": _json([{"sha256": key, "text": text} for key, text in texts.items()]),
                "assembly": _json(row),
                "decisions": _json(decisions),
            },
        )
    )
    assembly._state.adding, assembly._state.db = False, connection.alias  # noqa: SLF001 - as Model.save does


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
    return json.dumps(value, default=_text, separators=(",", ":"))


def _text(value: Any) -> str:
    """As PostgreSQL reads it: bytes in hexadecimal, moments and ids as they print."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
