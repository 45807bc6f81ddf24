"""What 0013 does to the records that exist: rows of decisions become a packed body and pieces, and rows again.

The format of bodies is for good, and so is what of the project this builds on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from assembly.records.encoding import candidate_facts, columns_of, decision_at
from assembly.engine.refs import without_version
from assembly.engine.codes import Code
from assembly.engine.profile import Profile
from assembly.engine.types import Candidate, Decision
from assembly.models import text_hash
from assembly.models.assembly import packed, unpacked
from assembly.records.encoding import ID_BYTES, piece_hash

ASKED_FOR = {"section", "similarity", "score", "measures", "position", "summary", "levels"}
"""Fields of a candidate that depend on the request or the section; a piece omits them."""
BATCH = 200
ASSEMBLIES = "SELECT id, request, profile, profile_name, profile_version, sections, sources FROM assemblies"
DECISIONS = """
SELECT ref, section, code, rank, score, signals, tokens, tokens_full, start, "end", detail, candidate, text_sha256
FROM decisions WHERE assembly_id = %s ORDER BY position
"""
TEXT = "INSERT INTO stored_texts (sha256, text) VALUES (%s, %s) ON CONFLICT DO NOTHING"
PIECE = "INSERT INTO pieces (id, sha256, ref, named, text_sha256, facts) VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
PACK = "UPDATE assemblies SET told = %s, omitted = %s, codes = %s, body = %s WHERE id = %s"
SHARE = """
UPDATE assemblies SET told = first.told, omitted = first.omitted, codes = first.codes
FROM assemblies AS first WHERE first.id = assemblies.decided_in
"""
PACKED = "SELECT id, told, omitted, body FROM assemblies"
PIECES = "SELECT id, ref, text_sha256, facts FROM pieces WHERE id = ANY(%s)"
UNPACK = "UPDATE assemblies SET request = %s, profile = %s, sections = %s, sources = %s WHERE id = %s"
ROW = """
INSERT INTO decisions (assembly_id, position, section, source, ref, candidate, text_sha256, code, included, rank, score,
    signals, tokens, tokens_full, start, "end", detail)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
SHARE_BACK = """
UPDATE assemblies SET profile = first.profile, sections = first.sections, sources = first.sources,
    request = first.request || jsonb_build_object('repeats', assemblies.decided_in::text)
FROM assemblies AS first WHERE first.id = assemblies.decided_in
"""


def pack_records(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    """Every record that has decisions of its own is packed; those that repeat one share what they find there."""
    for row in _rows(editor, ASSEMBLIES):
        _pack(editor, row)
    with editor.connection.cursor() as cursor:
        cursor.execute(SHARE)


def unpack_records(_apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
    """As they were before."""
    for row in _rows(editor, PACKED):
        _unpack(editor, *row)
    with editor.connection.cursor() as cursor:
        cursor.execute(SHARE_BACK)


def _rows(editor: BaseDatabaseSchemaEditor, select: str) -> Iterator[Sequence[Any]]:
    """Those with a body of their own, batch by batch in the order of their ids."""
    last = "00000000-0000-0000-0000-000000000000"
    while True:
        with editor.connection.cursor() as cursor:
            cursor.execute(f"{select} WHERE decided_in IS NULL AND id > %s ORDER BY id LIMIT {BATCH}", [last])
            found = cursor.fetchall()
        yield from found
        if len(found) < BATCH:
            return
        last = found[-1][0]


def _pack(editor: BaseDatabaseSchemaEditor, row: Sequence[Any]) -> None:
    id_, request, profile, profile_name, profile_version, sections, sources = row
    with editor.connection.cursor() as cursor:
        cursor.execute(DECISIONS, [id_])
        rows = cursor.fetchall()
        pieces = _Pieces()
        used = orjson.dumps(json.loads(profile)).decode()
        cursor.execute(TEXT, [text_hash(used), used])
        decisions, candidates, places, summaries = [], [], [], []
        for each in rows:
            decision, candidate, data, text_sha256 = _decided(each)
            facts = {name: value for name, value in data.items() if name not in ASKED_FOR}
            ref, summary = facts.pop("ref"), data.get("summary")
            decisions.append(decision)
            candidates.append(candidate)
            places.append(pieces.add(ref, text_sha256, facts, told=decision.included))
            summaries.append(
                pieces.add(f"summary:{ref}", bytes.fromhex(summary["sha256"]), {"model": summary["model"]}, told=True)
                if summary
                else None
            )
        pieces.add(f"profile:{profile_name}@{profile_version}", text_hash(used), {}, told=True)
        cursor.executemany(PIECE, pieces.rows)
        contents = {
            "request": {name: value for name, value in json.loads(request).items() if name != "repeats"},
            "profile": text_hash(used).hex(),
            "sections": json.loads(sections),
            "sources": json.loads(sources),
            "decisions": columns_of(
                decisions,
                candidates,
                [pieces.place(at) for at in places],
                [None if at is None else pieces.place(at) for at in summaries],
                Profile.from_dict(json.loads(profile)),
            ),
        }
        codes = sorted({decision.code.value for decision in decisions})
        cursor.execute(PACK, [[*pieces.told], [*pieces.omitted], codes, packed(contents), id_])


class _Pieces:
    """The pieces of one record, each once among those told and among those omitted."""

    def __init__(self) -> None:
        self.told: dict[int, int] = {}
        self.omitted: dict[int, int] = {}
        self.rows: list[Sequence[Any]] = []

    def add(self, ref: str, text_sha256: bytes, facts: Mapping[str, Any], *, told: bool) -> tuple[bool, int]:
        """Where it is: among those told or not, and at which place."""
        sha256 = piece_hash(ref, text_sha256, facts)
        id_ = int.from_bytes(sha256[:ID_BYTES], signed=True)
        self.rows.append([id_, sha256, ref, without_version(ref), text_sha256, json.dumps(facts)])
        side = self.told if told else self.omitted
        return told, side.setdefault(id_, len(side))

    def place(self, found: tuple[bool, int]) -> int:
        """Its place among all of them, once all are added."""
        told, place = found
        return place if told else len(self.told) + place


def _decided(row: Sequence[Any]) -> tuple[Decision, Candidate, dict[str, Any], bytes]:
    ref, section, code, rank, score, signals, tokens, full, start, end, detail, candidate, text_sha256 = row
    data = json.loads(candidate)
    told = tuple(json.loads(signals).items())
    decision = Decision(ref, section, Code(code), rank, score, told, tokens, full, start, end, json.loads(detail))
    return decision, Candidate.from_dict({**data, "summary": None}, ""), data, bytes(text_sha256)


def _unpack(editor: BaseDatabaseSchemaEditor, id_: Any, told: list[int], omitted: list[int], body: bytes) -> None:
    contents, ids = unpacked(bytes(body)), [*told, *omitted]
    with editor.connection.cursor() as cursor:
        cursor.execute(PIECES, [ids])
        pieces = {row[0]: (row[1], bytes(row[2]), json.loads(row[3])) for row in cursor.fetchall()}
        cursor.execute("SELECT text FROM stored_texts WHERE sha256 = %s", [bytes.fromhex(contents["profile"])])
        used = json.loads(cursor.fetchone()[0])
        facts = [contents["request"], used, contents["sections"], contents["sources"]]
        cursor.execute(UNPACK, [*map(json.dumps, facts), id_])
        cursor.executemany(ROW, _decision_rows(id_, contents["decisions"], Profile.from_dict(used), ids, pieces))


def _decision_rows(
    id_: Any, columns: dict[str, Any], profile: Profile, ids: Sequence[int], pieces: Mapping[int, Any]
) -> Iterator[Sequence[Any]]:
    source_of = {section.key: section.source for section in profile.sections}
    for place, piece_at in enumerate(columns.get("piece", ())):
        ref, text_sha256, facts = pieces[ids[piece_at]]
        data = {**facts, "ref": ref, **candidate_facts(columns, place, profile)}
        decision = decision_at(columns, place, Candidate.from_dict(data, ""), profile)
        if (summary_at := columns.get("summary", {}).get(str(place))) is not None:
            _, sha256, of_summary = pieces[ids[summary_at]]
            data["summary"] = {"model": of_summary["model"], "sha256": sha256.hex()}
        yield [
            id_, place, decision.section, source_of[decision.section], ref, json.dumps(data), text_sha256,
            decision.code.value, decision.included, decision.rank, decision.score, json.dumps(dict(decision.signals)),
            decision.tokens, decision.tokens_full, decision.start, decision.end, json.dumps(dict(decision.detail)),
        ]  # fmt: skip
