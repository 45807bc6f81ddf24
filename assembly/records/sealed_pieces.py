"""What recorded contexts have of an item beside its text, such as its title, is sealed if the item is above internal.

A piece that is new is sealed when it is recorded, under the key of what is recorded about the agent, as the topic is.
Pieces that other contexts had before are sealed when the item is raised. They stay sealed when it is lowered. The hash
of a piece is of its facts as they were written.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction

from config.db.migration_helpers import ORGANISATION
from config.db.sealed_columns import plain_sql
from config.db.statements import Rows, fetch_rows
from config.keys.sealed_texts import is_sealed, open_texts, records_owner, seal_text
from teams.sealing.columns import PIECES
from teams.sealing.parts import store_texts

BATCH = 500
IS_PLAIN = plain_sql("facts", "jsonb").replace("{", "{{").replace("}", "}}")
# A piece is sealed for the agent of one of its contexts: its key stays as long as something is sealed under it.
PLAIN_SQL = f"""
SELECT id, facts::text, (SELECT agent_id FROM assemblies WHERE told @> ARRAY[pieces.id] OR omitted @> ARRAY[pieces.id]
    LIMIT 1)
FROM pieces WHERE {{chosen}} AND {IS_PLAIN} ORDER BY id LIMIT {BATCH}
"""  # noqa: S608 - only constants are put in
OF_ITEM = "id = ANY(pieces_of(%(item)s))"
# Refs of what was part of a request have no id in this form.
ABOVE_INTERNAL = """id > %(after)s
    AND sensitivity_of(substring(named FROM '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')::uuid) > 1"""
LEAST_ID = -(2**63)


def sealed_facts(facts: Mapping[str, Any], agent: UUID) -> str:
    """Return the facts of a new piece, sealed for what is recorded about the agent.

    Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    return seal_text(json.dumps(facts, ensure_ascii=False), records_owner(agent))


def opened_facts(stored: Sequence[Any]) -> list[Any]:
    """Return facts as they were written, whether they are stored sealed or not; the keys are fetched together.

    Raises KeyStoreUnavailable, KeyLost (a LookupError) and DecryptionFailed (a ValueError).
    """
    places = [place for place, one in enumerate(stored) if is_sealed(one)]
    if not places:
        return [*stored]
    opened = open_texts([stored[place] for place in places])
    found = [*stored]
    for place, text in zip(places, opened, strict=True):
        found[place] = json.loads(text)
    return found


def pieces_seal(item: UUID) -> int:
    """Seal the facts of all pieces of this item, in any version; return how many were plain.

    Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    sealed = 0
    while rows := fetch_rows(PLAIN_SQL.format(chosen=OF_ITEM), {"item": item}):
        sealed += _seal(rows)
    return sealed


def plain_pieces_seal() -> Iterator[int]:
    """Seal the facts of all pieces of items above internal, as an earlier version stored them in plain.

    Yields after each batch, which is a transaction, how many it had. Raises KeyStoreMissing and KeyStoreUnavailable.
    """
    after = LEAST_ID
    while rows := fetch_rows(PLAIN_SQL.format(chosen=ABOVE_INTERNAL), {"after": after}):
        with transaction.atomic():
            yield _seal(rows)
        after = rows[-1][0]


def _seal(rows: Rows) -> int:
    ids = [id_ for id_, _, _ in rows]
    store_texts(PIECES, ids, [seal_text(facts, records_owner(agent or ORGANISATION)) for _, facts, agent in rows])
    return len(ids)
