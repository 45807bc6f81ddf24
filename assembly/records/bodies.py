"""The pieces and bodies of records, and the keys of encrypted bodies, are loaded for many records together."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from uuid import UUID

from assembly.models import Assembly
from assembly.models.assembly import ENCRYPTED_FORMAT
from assembly.models.encryption import body_key_name, load_body_keys, read_texts
from assembly.records.sealed_pieces import opened_facts
from config.db.statements import Rows, Statement, run_statement
from config.keys.envelope import DataKey
from config.keys.key_errors import KeyLost, KeysUnavailable
from config.keys.store import fetch

# Ids are joined, so that each is sought in its partition alone if pieces are divided.
PIECES_SQL = """
SELECT id, ref, facts, text_sha256, text, sealed
FROM unnest(%(ids)s::bigint[]) AS wanted (id) JOIN pieces USING (id)
    LEFT JOIN stored_texts ON stored_texts.sha256 = pieces.text_sha256 ORDER BY id
"""
REFS_SQL = """
SELECT id, ref, CASE WHEN jsonb_typeof(facts) = 'string' THEN facts ELSE facts -> 'kind' END
FROM unnest(%(ids)s::bigint[]) AS wanted (id) JOIN pieces USING (id)
"""
BODIES_SQL = """
SELECT one.id, coalesce(repeated.body, one.body)
FROM assemblies AS one LEFT JOIN assemblies AS repeated ON repeated.id = one.decided_in WHERE one.id = ANY(%(ids)s)
"""


def load_bodies(assemblies: Sequence[Assembly]) -> None:
    """Load the bodies of these assemblies in one query; an assembly that repeats another one gets that one's body."""
    found = run_statement(Statement(BODIES_SQL, {"ids": [one.id for one in assemblies]})) if assemblies else []
    bodies = {id_: bytes(body) for id_, body in found}
    for one in assemblies:
        if one.id in bodies:
            one.packed = bodies[one.id]
    load_keys(assemblies)


def load_keys(assemblies: Iterable[Assembly]) -> None:
    """Fetch the keys of the bodies of these assemblies together."""
    encrypted = [one for one in assemblies if one.packed[:1] == ENCRYPTED_FORMAT]
    with suppress(KeyLost, KeysUnavailable):  # who reads the record itself is told
        load_body_keys((one.decided_in or one.id, one.packed[1:]) for one in encrypted)


def body_keys(assemblies: Iterable[Assembly]) -> dict[UUID, DataKey]:
    """Return the keys of the bodies of these assemblies that are encrypted and were not erased, by id."""
    names = {
        one.id: body_key_name(one.id, bytes(one.body)[1:])
        for one in assemblies
        if bytes(one.body[:1]) == ENCRYPTED_FORMAT
    }
    found = fetch(names.values()) if names else {}
    return {id_: key for id_, name in names.items() if isinstance(key := found[name], DataKey)}


def load_pieces(assemblies: Sequence[Assembly]) -> Rows:
    """Return the stored pieces of the assemblies with their texts, each piece once."""
    rows = run_statement(Statement(PIECES_SQL, {"ids": _piece_ids(assemblies)}))
    texts = read_texts((sha256, text, sealed) for _id, _ref, _facts, sha256, text, sealed in rows)
    opened = opened_facts([row[2] for row in rows])
    return [(row[0], row[1], facts, texts[row[3]]) for row, facts in zip(rows, opened, strict=True)]


def load_piece_refs(assemblies: Sequence[Assembly]) -> Rows:
    """Return id, ref and kind of the stored pieces of the assemblies, each piece once."""
    rows = run_statement(Statement(REFS_SQL, {"ids": _piece_ids(assemblies)}))
    found = opened_facts([kind for _id, _ref, kind in rows])
    kinds = (one["kind"] if isinstance(one, dict) else one for one in found)
    return [(id_, ref, kind) for (id_, ref, _), kind in zip(rows, kinds, strict=True)]


def _piece_ids(assemblies: Sequence[Assembly]) -> list[int]:
    return list({id_ for one in assemblies for id_ in (*one.told, *one.omitted)})
