"""The one statement that writes a record: pieces and texts that are not stored yet, and the assembly. All or nothing.

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
from django.db import DEFAULT_DB_ALIAS, connection, models

from assembly.models import Assembly, Piece
from assembly.records.change_counters import Changed, State, is_there
from assembly.records.pieces import ID_BYTES, NewPiece
from config.db.statements import Statement, run_statement

# A piece that this process stored before is not sent again, nor its text. Where one is gone after all, or another one
# has its number, no assembly is written; nor where what it rests on has changed. Rows in one order for everybody, so
# that two assemblies that share some cannot wait for each other in a circle.
NOTHING_NEW = """
WITH there AS (
    SELECT id FROM pieces WHERE id = ANY(%(known)s::bigint[])
)"""
WITH_NEW = """
WITH stored AS (
    INSERT INTO stored_texts (sha256, text)
    SELECT sha256, text FROM jsonb_to_recordset(%(texts)s::jsonb) AS row (sha256 bytea, text text) ORDER BY sha256
    ON CONFLICT DO NOTHING
), sent AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(pieces)s::jsonb) AS row ({piece_types})
), made AS (
    INSERT INTO pieces ({piece}) SELECT {piece} FROM sent ORDER BY id ON CONFLICT DO NOTHING RETURNING id
), there AS (
    SELECT id FROM pieces WHERE id = ANY(%(known)s::bigint[])
    UNION SELECT id FROM made
    UNION SELECT pieces.id FROM pieces JOIN sent USING (id, sha256)
)"""
RECORD = """
, state AS MATERIALIZED (
    SELECT {unchanged} AS unchanged
), assembly AS (
    INSERT INTO assemblies ({assembly})
    SELECT {assembly} FROM jsonb_to_record(%(assembly)s::jsonb) AS row ({assembly_types})
    WHERE (SELECT count(*) FROM there) = %(count)s AND (SELECT unchanged FROM state)
    RETURNING id
), noticed AS (
    INSERT INTO new_assemblies (assembly) SELECT id FROM assembly
)
SELECT unchanged, (SELECT count(*) FROM assembly) FROM state
"""
MOST_KNOWN = 50_000
IDS = range(0, 32 - ID_BYTES + 1, ID_BYTES)
"""Where in the hash of a piece its number may begin."""


class Unwritten(Exception):
    """Other pieces have all the numbers that those of this record could have."""


def write(assembly: Assembly, told: Sequence[NewPiece], omitted: Sequence[NewPiece], rests_on: State) -> int:
    """Store the assembly, and its pieces with their texts where they are not stored yet.

    Returns the bytes of its body and the characters of the texts that were not stored yet. Raises Changed where the
    state that it rests on is not there any more: then there is no assembly.
    """
    for byte in IDS:
        ids = {piece.sha256: piece.id_from(byte) for piece in (*told, *omitted)}
        assembly.told, assembly.omitted = [ids[one.sha256] for one in told], [ids[one.sha256] for one in omitted]
        pieces = {ids[piece.sha256]: piece for piece in (*told, *omitted)}
        # The second time, all are sent; the third, those are there that somebody else stored meanwhile.
        known = (stored.among(pieces), frozenset[int](), frozenset[int]())
        if len(pieces) == len(ids) and any(_written(assembly, pieces, those, rests_on) for those in known):
            new = pieces.keys() - known[0]
            if new:
                stored.add(new)
            assembly._state.adding, assembly._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001 - as Model.save does
            return len(assembly.body) + sum(len(pieces[id_].text) for id_ in new)
    raise Unwritten


def _written(assembly: Assembly, pieces: Mapping[int, NewPiece], known: Set[int], rests_on: State) -> bool:
    """Whether the assembly was written: not where a piece of those known as stored is not there."""
    new = {id_: piece for id_, piece in pieces.items() if id_ not in known}
    parameters = {
        "assembly": _json({field.column: getattr(assembly, field.attname) for field in _fields(Assembly)}),
        **(_sent(new) if new else {}),
        # Spelled as PostgreSQL does: to make an array of numbers takes longer than to look them up.
        "known": f"{{{','.join(map(str, known))}}}",
        "count": len(pieces),
        **rests_on.parameters,
    }
    ((unchanged, written),) = run_statement(Statement(_sql(bool(new), len(rests_on.owners)), parameters))
    if not unchanged:
        raise Changed
    return bool(written)


def _sent(pieces: Mapping[int, NewPiece]) -> dict[str, str]:
    texts = {piece.text_sha256: piece.text for piece in pieces.values()}
    return {
        "pieces": _json([piece.row(id_) for id_, piece in pieces.items()]),
        "texts": _json([{"sha256": key, "text": text} for key, text in texts.items()]),
    }


class _Stored:
    """Which pieces this process has stored, by their ids: those that it stored last."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, None] = OrderedDict()
        self._lock = Lock()

    def among(self, asked: Collection[int]) -> Set[int]:
        return self._known.keys() & asked

    def add(self, pieces: Iterable[int]) -> None:
        with self._lock:
            for key in pieces:
                self._known[key] = None
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)

    def forget(self) -> None:
        with self._lock:
            self._known.clear()


stored = _Stored()


@cache
def _sql(with_new: bool, owners: int) -> str:
    names = {}
    for name, model in (("assembly", Assembly), ("piece", Piece)):
        columns = [(f'"{field.column}"', _type_of(field)) for field in _fields(model)]
        names[name] = ", ".join(column for column, _ in columns)
        names[f"{name}_types"] = ", ".join(f"{column} {kind}" for column, kind in columns)
    return ((WITH_NEW if with_new else NOTHING_NEW) + RECORD).format(unchanged=is_there(owners), **names)


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
