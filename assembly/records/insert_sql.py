"""One statement writes a record, with the pieces and texts that are not stored yet; all or nothing.

Rows are sent as JSON, which PostgreSQL turns into columns by the types of the tables: one parameter for any number of
rows, and one prepared statement for all records.
"""

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, models

from assembly.models import Assembly, Piece
from assembly.models.encryption import NO_KEYS, seal_texts
from assembly.records.change_counters import ChangeCounts, StaleRead, is_unchanged_sql
from assembly.records.encoding import ID_BYTES, NewPiece
from assembly.records.sealed_pieces import sealed_facts
from config.caching.cache_metrics import CacheUsage
from config.db.statements import Statement, fetch_rows, run_statement
from config.keys.envelope import DataKey, generation_of
from config.keys.sealed_texts import is_sealed
from config.keys.store import on_destruction
from teams.sensitivity import DEFAULT_LEVEL

# A piece that this process stored before is not sent again, nor its text. No assembly is written if such a piece was
# deleted, if another piece has its id, or if the expected change counters have moved. All processes insert rows in the
# same order, so that two assemblies that share pieces cannot deadlock.
# Ids are joined, not compared with an array: if pieces are divided, each id is then sought in its partition alone.
KNOWN_PIECES_SQL = """
WITH there AS (
    SELECT id FROM unnest(%(known)s::bigint[]) AS known (id) JOIN pieces USING (id)
)"""
NEW_PIECES_SQL = """
WITH stored AS (
    INSERT INTO stored_texts (sha256, text, sealed)
    SELECT sha256, text, sealed
    FROM jsonb_to_recordset(%(texts)s::jsonb) AS row (sha256 bytea, text text, sealed bytea) ORDER BY sha256
    ON CONFLICT DO NOTHING
), sent AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(pieces)s::jsonb) AS row ({piece_types})
), made AS (
    INSERT INTO pieces ({piece}) SELECT {piece} FROM sent ORDER BY id ON CONFLICT DO NOTHING RETURNING id
), there AS (
    SELECT id FROM unnest(%(known)s::bigint[]) AS known (id) JOIN pieces USING (id)
    UNION SELECT id FROM made
    UNION SELECT pieces.id FROM pieces JOIN sent USING (id, sha256)
)"""
RECORD_SQL = """
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
RENEW_SQL = "SELECT renew_stored_texts(%s, %s)"
MAX_KNOWN = 50_000
KNOWN_BYTES = 150
TOPIC = Assembly._meta.get_field("topic")  # noqa: SLF001 - Django's documented introspection
"""The field that seals the topics of records above internal."""
ID_OFFSETS = range(0, 32 - ID_BYTES + 1, ID_BYTES)
"""Offsets of a piece's hash at which its id may begin."""


class PieceIdsTaken(Exception):
    """Every possible id of one of the record's pieces is taken by another piece."""


def insert_assembly(
    assembly: Assembly,
    told: Sequence[NewPiece],
    omitted: Sequence[NewPiece],
    expected_counts: ChangeCounts,
    above_internal: Set[bytes] = frozenset(),
    *,
    keys: Mapping[bytes, DataKey] = NO_KEYS,
) -> int:
    """Store the assembly, with its pieces and their texts if they are not stored yet. The facts of the pieces with the
    hashes `above_internal` are sealed. `keys` are those that were obtained for texts, by hash.

    Returns the bytes of its body plus the characters of the new texts. Raises StaleRead, and stores no assembly, if the
    expected change counters have moved.
    """
    for byte in ID_OFFSETS:
        ids = {piece.sha256: piece.id_from(byte) for piece in (*told, *omitted)}
        assembly.told, assembly.omitted = [ids[one.sha256] for one in told], [ids[one.sha256] for one in omitted]
        pieces = {ids[piece.sha256]: piece for piece in (*told, *omitted)}
        # The second attempt sends all pieces; the third one sees pieces that another process stored during the second.
        known = (stored_pieces.among(pieces), frozenset[int](), frozenset[int]())
        if len(pieces) == len(ids) and any(
            _insert_with_pieces(assembly, pieces, those, expected_counts, _Sealing(above_internal, keys))
            for those in known
        ):
            new = pieces.keys() - known[0]
            if new:
                stored_pieces.add(new)
            assembly._state.adding, assembly._state.db = False, DEFAULT_DB_ALIAS  # noqa: SLF001 - as Model.save does
            return len(assembly.body) + sum(len(pieces[id_].text) for id_ in new)
    raise PieceIdsTaken


def new_texts(pieces: Iterable[NewPiece]) -> dict[bytes, str]:
    """Return the texts, by hash, of the pieces that this process does not know to be stored."""
    by_id = {piece.id_from(ID_OFFSETS[0]): piece for piece in pieces}
    known = stored_pieces.among(by_id)
    return {piece.text_sha256: piece.text for id_, piece in by_id.items() if id_ not in known}


class _Sealing(NamedTuple):
    """This holds what the encryption of pieces needs: which are above internal, by hash, and the keys of texts."""

    above_internal: Set[bytes]
    keys: Mapping[bytes, DataKey]


def _insert_with_pieces(
    assembly: Assembly,
    pieces: Mapping[int, NewPiece],
    known: Set[int],
    expected_counts: ChangeCounts,
    sealing: _Sealing,
) -> bool:
    """Return whether the assembly was written; it is not if a piece in `known` is missing. Raises StaleRead."""
    new = {id_: piece for id_, piece in pieces.items() if id_ not in known}
    parameters = {
        "assembly": _to_json(_stored_values(assembly)),
        **(_piece_parameters(new, assembly.agent_id, sealing) if new else {}),
        # An array literal as text, because psycopg takes longer to adapt a list than PostgreSQL to look up the ids.
        "known": f"{{{','.join(map(str, known))}}}",
        "count": len(pieces),
        **expected_counts.parameters,
    }
    ((unchanged, written),) = run_statement(Statement(_insert_sql(bool(new), len(expected_counts.owners)), parameters))
    if not unchanged:
        raise StaleRead
    return bool(written)


def _stored_values(assembly: Assembly) -> dict[str | None, Any]:
    values = {field.column: getattr(assembly, field.attname) for field in _insert_fields(Assembly)}
    if assembly.sensitivity > DEFAULT_LEVEL or is_sealed(assembly.topic):
        values["topic"] = TOPIC.pre_save(assembly, add=True)
    return values


def _piece_parameters(pieces: Mapping[int, NewPiece], agent: UUID, sealing: _Sealing) -> dict[str, str]:
    texts = {piece.text_sha256: piece.text for piece in pieces.values()}
    rows = (
        [{"sha256": key, "sealed": sealed} for key, sealed in _sealed(texts, sealing.keys).items()]
        if settings.ENCRYPT_RECORDS
        else [{"sha256": key, "text": text} for key, text in texts.items()]
    )
    stored = [piece.row(id_) for id_, piece in pieces.items()]
    if sealing.above_internal:
        for row in stored:
            if row["sha256"] in sealing.above_internal:
                row["facts"] = sealed_facts(row["facts"], agent)
    return {"pieces": _to_json(stored), "texts": _to_json(rows)}


def _sealed(texts: Mapping[bytes, str], keys: Mapping[bytes, DataKey]) -> dict[bytes, bytes]:
    """Return the texts encrypted. Those whose former key was destroyed are stored again in this form."""
    sealed = seal_texts(texts, keys)
    renewed = {key: value for key, value in sealed.items() if generation_of(value) > 1}
    if renewed:
        fetch_rows(RENEW_SQL, [list(renewed), list(renewed.values())])
    return sealed


class _StoredPieces:
    """The ids of the pieces that this process stored most recently, at most 50,000.

    An OrderedDict is used instead of a library's cache: its keys are a set, so that hundreds of ids are compared with a
    record's pieces in one step.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[int, None] = OrderedDict()
        self._lock, self._usage = Lock(), CacheUsage("process", "stored_pieces")

    def among(self, asked: Collection[int]) -> Set[int]:
        return self._known.keys() & asked

    def add(self, pieces: Iterable[int]) -> None:
        with self._lock:
            for key in pieces:
                self._known[key] = None
            while len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        self._usage.use(len(self._known) * KNOWN_BYTES, MAX_KNOWN * KNOWN_BYTES)

    def forget(self) -> None:
        with self._lock:
            self._known.clear()


stored_pieces = _StoredPieces()
on_destruction(stored_pieces.forget)


@cache
def _insert_sql(with_new: bool, owners: int) -> str:
    names = {}
    for name, model in (("assembly", Assembly), ("piece", Piece)):
        columns = [(f'"{field.column}"', _sql_type(field)) for field in _insert_fields(model)]
        names[name] = ", ".join(column for column, _ in columns)
        names[f"{name}_types"] = ", ".join(f"{column} {kind}" for column, kind in columns)
    return ((NEW_PIECES_SQL if with_new else KNOWN_PIECES_SQL) + RECORD_SQL).format(
        unchanged=is_unchanged_sql(owners), **names
    )


@cache
def _insert_fields(model: type[models.Model]) -> "tuple[models.Field[Any, Any], ...]":
    """Return the fields of a model that an INSERT sets: all except ids that the database generates."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django's documented introspection
    return tuple(field for field in fields if not isinstance(field, models.AutoField))


def _sql_type(field: "models.Field[Any, Any]") -> str:
    """Return a field's SQL type; `text` for a limited text, so that the table refuses a long one, not cuts it."""
    return "text" if isinstance(field, models.CharField) else str(field.db_type(connection))


def _to_json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=_to_sql_text).decode()
    except TypeError:  # orjson refuses integers beyond 64 bits
        return json.dumps(value, default=_to_sql_text)


def _to_sql_text(value: Any) -> str:
    """Return a value as PostgreSQL reads it: bytes in hexadecimal, times and ids as text."""
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
