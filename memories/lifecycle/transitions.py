"""Things are moved between tiers in small transactions, which wait for nobody: rows that others have locked stay.

What takes time is done before the transaction: texts are read, compressed, embedded or written to the frozen store.
The transaction moves only rows whose version is still the same.
"""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone
from pgvector import Vector

from config.db.sealed_columns import written_octets_sql
from config.db.statements import Statement, execute_sql, fetch_rows, run_statement
from config.keys.sealed_texts import is_sealed, open_text, open_texts, seal_text
from memories.embeddings.active_model import EmbeddingModel, lock_active_model, read_active_model
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.vectors import embed_texts
from memories.jobs.services import job_create
from memories.lifecycle.frozen_texts import FrozenTexts, freeze_once, thaw
from memories.lifecycle.lock_limit import LockLimit
from memories.lifecycle.packing import pack_if_smaller, unpack
from memories.lifecycle.thing_tables import DOCUMENTS, EVENTS, ThingTable
from memories.lifecycle.tier_checks import note_moved
from memories.lifecycle.tiers import Tier
from memories.models import Chunk
from memories.services.announcements import announce_in_reach
from teams.principal import SYSTEM
from teams.sensitivity import DEFAULT_LEVEL

READ_SQL = """
SELECT thing.id, thing.version, thing.tier, thing.{column}::text, thing.packed, thing.frozen::text,
    thing.sensitivity, {owner}
FROM {table} AS thing WHERE thing.id = ANY(%(ids)s::uuid[]) AND thing.tier <> %(to)s {further}
"""
MOVE_SQL = """
WITH free AS MATERIALIZED (
    SELECT thing.id FROM {table} AS thing JOIN unnest(%(ids)s::uuid[], %(versions)s::int[], %(tiers)s::text[])
        AS seen (id, version, tier) ON seen.id = thing.id AND seen.version = thing.version AND seen.tier = thing.tier
    ORDER BY thing.id FOR NO KEY UPDATE OF thing SKIP LOCKED
)
UPDATE {table} AS thing SET tier = %(to)s, tier_since = %(now)s, {column} = made.said::{value_type},
    packed = made.packed, frozen = made.frozen::jsonb, text_bytes = made.bytes, text_characters = made.characters,
    text_asks = made.asks {changed}
FROM free JOIN unnest(%(ids)s::uuid[], %(said)s::text[], %(packed)s::bytea[], %(frozen)s::text[], %(bytes)s::int[],
    %(characters)s::int[], %(asks)s::bool[]) AS made (id, said, packed, frozen, bytes, characters, asks) USING (id)
    {joined}
WHERE thing.id = free.id RETURNING thing.id
"""
# Sent together with the statement that moves, so that PostgreSQL says how long its transaction took until here.
MOVED_SQL = """
SELECT thing.id, extract(epoch FROM clock_timestamp() - transaction_timestamp())::float8 FROM {table} AS thing
WHERE thing.id = ANY(%(ids)s::uuid[]) AND thing.tier = %(to)s AND thing.tier_since = %(now)s
"""
TAKEN_SQL = "SELECT extract(epoch FROM clock_timestamp() - transaction_timestamp())::float8"
NO_WAIT_SQL = "SELECT set_config('synchronous_commit', 'off', true)"
"""Locks are released without waiting for the disk: a move that a crash undoes is made again by the next run."""
SAME_ANSWERS_SQL = "SELECT set_config('dossier.same_answers', 'on', true)"
"""Changes are not counted: what is stored in another way makes no answer invalid."""
ROWS_LISTED = 32
EMPTY_WORD_LISTS_SQL = "SELECT empty_word_lists()"
"""Emptying PostgreSQL's list of the words of new rows takes half a second, so it is done while no row is locked."""
FORGET_WORDS = """, search = NULL, embedding = NULL, embedding_model = '', second_embedding = NULL,
    second_embedding_model = ''"""
RECALL_WORDS = """, search = memory_words(word_configuration(thing.language), recalled.whole),
    {slot} = recalled.vector::vector, {slot}_model = %(model)s"""
RECALLED = """JOIN unnest(%(ids)s::uuid[], %(whole)s::text[], %(vectors)s::text[]) AS recalled (id, whole, vector)
    USING (id)"""
IS_SPLIT = "AND (thing.tier <> 'hot' OR thing.split_version = thing.version)"
"""SQL condition that a document is not waiting for being split: its chunks are those of its text."""


@dataclass(frozen=True, slots=True)
class StoredThing:
    """A row as it is stored, before it is moved."""

    id: UUID
    version: int
    tier: str
    said: str | None
    packed: bytes | None
    frozen: str | None
    sensitivity: int
    owner: UUID

    @property
    def stored(self) -> str:
        """The text, or the JSON text of the value, as it is stored, unpacked and thawed."""
        if self.said is not None:
            return self.said
        return unpack(bytes(self.packed)) if self.packed is not None else thaw(json.loads(self.frozen or "{}"))

    def whole(self, table: ThingTable) -> str:
        """Return the text, or the JSON text of the value, as its column has it: sealed if it has to be, or looks so."""
        stored = self.stored
        value = value_in(table, stored)
        if self.sensitivity <= DEFAULT_LEVEL:
            opened = open_text(value) if is_sealed(value) else stored
            return stored if is_sealed(value_in(table, opened)) else opened
        if is_sealed(value):
            return stored
        sealed = seal_text(stored, self.owner)
        return json.dumps(sealed) if table.value_type == "jsonb" else sealed


def value_in(table: ThingTable, whole: str) -> Any:
    """Return the value of a column for its text: a sealed value is a text in a column of JSON, too."""
    return json.loads(whole) if table.value_type == "jsonb" and whole.startswith('"') else whole


def written_texts(table: ThingTable, whole: Sequence[str]) -> list[str]:
    """Return the texts, or the JSON texts of the values, as they were written, for those of the columns."""
    values = [value_in(table, one) for one in whole]
    return open_texts([value if is_sealed(value) else one for value, one in zip(values, whole, strict=True)])


def things_move(
    table: ThingTable,
    ids: Sequence[UUID],
    to: Tier,
    now: datetime.datetime | None = None,
    *,
    seconds: list[float] | None = None,
    most_ms: int = 0,
    frozen_texts: FrozenTexts | None = None,
) -> list[UUID]:
    """Move these things to the tier, and return the ids of those that were moved; others were locked, changed or gone.

    Documents that were not split yet stay. The seconds for which rows were locked are appended to `seconds`; outside a
    transaction of the caller, rows are locked for at most `most_ms`, unless it is 0. What is in `frozen_texts` is not
    written to the store again. Raises LockedTooLong, FrozenTextUnreachable and, for the frozen store, its errors.
    """
    further = IS_SPLIT if table is DOCUMENTS else ""
    sql = READ_SQL.format(table=table.name, column=table.column, owner=table.owner, further=further)
    things = [StoredThing(*row) for row in fetch_rows(sql, {"ids": list(ids), "to": to})]
    if not things:
        return []
    at, whole = now or timezone.now(), [thing.whole(table) for thing in things]
    written = written_texts(table, whole)
    keys = [(one.id, one.version, one.sensitivity) for one in things]
    frozen = freeze_once(keys, whole, at, frozen_texts) if to is Tier.FROZEN else None
    values = {**_stored_in(things, whole, written, to, frozen), "to": to.value, "now": at}
    was_searched = all(Tier(thing.tier).is_searched for thing in things)
    space = read_active_model() if table.has_words and to.is_searched and not was_searched else None
    if space:
        values |= {"whole": whole, "vectors": _vectors(space, written, things), "model": space.model}
    limit = LockLimit(0 if connection.in_atomic_block else most_ms)
    with limit.raising([] if seconds is None else seconds):
        if space or (table is DOCUMENTS and not (to is Tier.WARM and was_searched)):
            moved, taken = _move_together(table, things, values, space, limit)
        else:
            same_answers = to.is_searched and was_searched and table is not DOCUMENTS
            moved, taken = _move(table, values, limit, same_answers=same_answers)
    if table is DOCUMENTS and to is Tier.WARM:
        texts = dict(zip([thing.id for thing in things], written, strict=True))
        taken += _hide_chunks({thing.id: thing for thing in things if thing.id in set(moved)}, texts)
    if table is not EVENTS and not connection.in_atomic_block:
        _empty_word_lists(len(moved))
    note_moved(table.name, moved, at if to is Tier.HOT else None)
    if seconds is not None:
        seconds.extend(taken)
    return moved


def has_plain_text(table: ThingTable, ids: Sequence[UUID]) -> list[UUID]:
    """Return those of the things above internal whose packed or archived text is not sealed."""
    sql = READ_SQL.format(table=table.name, column=table.column, owner=table.owner, further="")
    things = [StoredThing(*row) for row in fetch_rows(sql, {"ids": list(ids), "to": Tier.HOT})]
    return [thing.id for thing in things if thing.said is None and not is_sealed(value_in(table, thing.stored))]


_listed = {"rows": 0}  # that this process has moved since it last emptied the lists of words


def _empty_word_lists(moved: int) -> None:
    _listed["rows"] += moved
    if _listed["rows"] >= ROWS_LISTED:
        _listed["rows"] = 0
        execute_sql(EMPTY_WORD_LISTS_SQL)


def _move(
    table: ThingTable, values: Mapping[str, Any], limit: LockLimit, *, same_answers: bool
) -> tuple[list[UUID], list[float]]:
    """Move the rows by one statement, which commits without waiting for this process; return their ids, and the seconds
    that it took PostgreSQL.

    Within a transaction of the caller, all changes are counted, because a setting would hold for later ones too.
    """
    changed = FORGET_WORDS if table.has_words and not Tier(values["to"]).is_searched else ""
    settings = [Statement(NO_WAIT_SQL, {})]
    if same_answers and not connection.in_atomic_block:
        settings.append(Statement(SAME_ANSWERS_SQL, {}))
    before = [*settings, *limit.statements, Statement(_move_sql(table, changed), values)]
    began = {name: values[name] for name in ("ids", "to", "now")}
    rows = run_statement(Statement(MOVED_SQL.format(table=table.name), began), before=before)
    return [id_ for id_, _ in rows], [] if connection.in_atomic_block else [taken for _, taken in rows[:1]]


def _move_together(
    table: ThingTable,
    things: Sequence[StoredThing],
    values: Mapping[str, Any],
    space: EmbeddingModel | None,
    limit: LockLimit,
) -> tuple[list[UUID], list[float]]:
    """Move the rows with their words and vectors in this space, or with their chunks, in one transaction."""
    sql = _move_sql(table, RECALL_WORDS.format(slot=space.slot), RECALLED) if space else _move_sql(table)
    with transaction.atomic():
        execute_sql(NO_WAIT_SQL)
        begun = perf_counter()
        if space and lock_active_model() != space:
            return [], []  # the embedder was changed meanwhile; the next run moves them
        limit.apply()
        moved = [id_ for (id_,) in fetch_rows(sql, values)]
        there = {thing.id: thing for thing in things if thing.id in set(moved)}
        if table is DOCUMENTS:
            _store_chunks(there, Tier(values["to"]), limit)
        else:
            back = [id_ for id_, thing in there.items() if not Tier(thing.tier).is_searched]
            announce_in_reach(table.model, back)
    return moved, [perf_counter() - begun]


def _move_sql(table: ThingTable, changed: str = "", joined: str = "") -> str:
    names = {"table": table.name, "column": table.column, "value_type": table.value_type}
    return MOVE_SQL.format(**names, changed=changed, joined=joined)


def _stored_in(
    things: Sequence[StoredThing], whole: list[str], written: list[str], to: Tier, frozen: list[str] | None
) -> dict[str, Any]:
    """Return the columns of the things in the tier, as arrays; what is sealed is packed as it is."""
    packed = [pack_if_smaller(text) if to in {Tier.WARM, Tier.COLD} else None for text in whole]
    away = [to is Tier.FROZEN or small is not None for small in packed]
    plain = [None if gone else text for text, gone in zip(whole, away, strict=True)]
    return {
        "ids": [thing.id for thing in things],
        "versions": [thing.version for thing in things],
        "tiers": [thing.tier for thing in things],
        "said": plain,
        "packed": packed,
        "frozen": frozen or [None] * len(things),
        "bytes": [len(text.encode()) if gone else None for text, gone in zip(written, away, strict=True)],
        "characters": [len(text) if gone else None for text, gone in zip(written, away, strict=True)],
        "asks": [_asks(text, one) if gone else None for text, one, gone in zip(written, whole, away, strict=True)],
    }


def _asks(written: str, stored: str) -> bool:
    """Return what search knows of a text that is not in its column; of a sealed one, it knows no words."""
    return written.endswith("?") and written == stored


def _vectors(space: EmbeddingModel, texts: Sequence[str], things: Sequence[StoredThing]) -> list[str | None]:
    levels = [thing.sensitivity for thing in things]
    try:
        return [one if one is None else Vector(one).to_text() for one in embed_texts(space, texts, levels)]
    except EmbedderFailed:
        return [None] * len(texts)  # as for new rows: `manage.py reindex` embeds them later


HIDDEN_TOGETHER = 20
# The document is locked, so that it has the text of the chunks for as long as they are changed.
HIDE_CHUNKS_SQL = f"""
WITH held AS MATERIALIZED (
    SELECT id, version FROM documents WHERE id = %(document)s AND version = %(version)s AND packed IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE chunks SET text = NULL, text_bytes = {written_octets_sql("text")} FROM held
WHERE chunks.document_id = held.id AND chunks.document_version = held.version
    AND chunks.id = ANY(%(ids)s::bigint[]) AND text IS NOT NULL
"""  # noqa: S608 - only the constant above is put in
SHOW_CHUNKS_SQL = """
UPDATE chunks SET text = made.said FROM unnest(%(ids)s::bigint[], %(said)s::text[]) AS made (id, said)
WHERE chunks.id = made.id AND chunks.text IS NULL
"""


def _store_chunks(documents: dict[UUID, StoredThing], to: Tier, limit: LockLimit) -> None:
    """Store the chunks of documents that were moved: of a hot one with their texts; a document that search does not
    read has none.
    """
    limit.apply()
    if not to.is_searched:
        Chunk.objects.filter(document__in=documents).delete()
        execute_sql("UPDATE documents SET split_version = 0 WHERE id = ANY(%s)", [list(documents)])
        return
    if recalled := [thing.id for thing in documents.values() if not Tier(thing.tier).is_searched]:
        arguments = {"documents": [str(id_) for id_ in recalled]}
        job_create(kind="split_documents", arguments=arguments, agent=None, principal=SYSTEM, steps=len(recalled))
    if to is Tier.HOT:
        rows = Chunk.objects.filter(document__in=documents).values_list("id", "document_id", "start", "end")
        whole = {id_: thing.whole(DOCUMENTS) for id_, thing in documents.items()}
        texts = dict(zip(whole, written_texts(DOCUMENTS, [*whole.values()]), strict=True))
        said = []
        for _, of, start, end in rows:
            text = texts[of][start:end]
            said.append(seal_text(text, documents[of].owner) if is_sealed(whole[of]) else text)
        execute_sql(SHOW_CHUNKS_SQL, {"ids": [id_ for id_, *_ in rows], "said": said})


def _hide_chunks(documents: dict[UUID, StoredThing], texts: Mapping[UUID, str]) -> list[float]:
    """Take the texts of the chunks away that can be read from their packed documents, a few at a time.

    Until then, or where it was interrupted, chunks have their own texts. Return the seconds that each took PostgreSQL.
    """
    taken = []
    for id_, thing in documents.items():
        rows = Chunk.objects.filter(document=id_, text__isnull=False).order_by("id")
        found = rows.values_list("id", "start", "end", "text")
        same = [chunk for chunk, start, end, text in found if texts[id_][start:end] == text]
        for at in range(0, len(same), HIDDEN_TOGETHER):
            ids = same[at : at + HIDDEN_TOGETHER]
            hide = Statement(HIDE_CHUNKS_SQL, {"document": id_, "version": thing.version, "ids": ids})
            ((seconds,),) = run_statement(Statement(TAKEN_SQL, {}), before=[Statement(NO_WAIT_SQL, {}), hide])
            taken.append(seconds)
    return taken
