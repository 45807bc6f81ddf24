"""Finding an owner's memories: by meaning, exactly, and the most recent ones.

Similarity is the cosine of unit vectors (1 minus pgvector's cosine distance), computed in SQL. The owner's rows are
found by B-tree and sorted exactly: a vector index that filters by owner afterwards misses rows of owners who have few.
"""

import datetime
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import Agent
from memories.directions import Direction, direction_of, in_active_space
from memories.embedders import EmbedderFailed
from memories.services import Owner
from memories.spaces import ACTIVE

logger = logging.getLogger(__name__)

STANDS = "(superseded_by_id IS NULL AND retired_because = '')"
# The superseded and the retired come last, so that they never take the place of a memory that stands.
STANDING_FIRST = f"NOT {STANDS}"
COLUMNS = "m.id, m.version, m.kind, m.text, at, similarity, m.superseded_by_id, m.pinned, m.retired_because"

# The index has each owner's newest first: as many as are wanted are read, not all. Where as many stand, nobody looks
# for the others. Those that are pinned come along, however old they are: they are few and have an index of their own.
RECENT = f"""
WITH owned AS NOT MATERIALIZED (
    SELECT id, version, kind, text, coalesce(occurred_at, created) AS at, superseded_by_id, pinned, retired_because
    FROM memories WHERE {{owner}} = %(owner)s
), standing AS MATERIALIZED (
    SELECT * FROM owned WHERE {STANDS} ORDER BY at DESC, id LIMIT %(recent)s
), found AS (
    SELECT * FROM standing
    UNION ALL
    SELECT * FROM owned WHERE pinned AND id NOT IN (SELECT id FROM standing)
    UNION ALL
    (SELECT * FROM owned WHERE NOT {STANDS} ORDER BY at DESC, id
        LIMIT greatest(0, %(recent)s - (SELECT count(*) FROM standing)))
)
SELECT id, version, kind, text, at, NULL::float8 AS similarity, superseded_by_id, pinned, retired_because
FROM found ORDER BY {STANDING_FIRST}, at DESC, id
"""  # noqa: S608 - only the constant names above are put in

SIMILAR = f"""
WITH owned AS MATERIALIZED (
    SELECT id, coalesce(occurred_at, created) AS at, superseded_by_id, pinned, retired_because,
        CASE WHEN {{here}} THEN 1 - ({{slot}} <=> %(vector)s::vector) END AS similarity
    FROM memories WHERE {{owner}} = %(owner)s
), found AS (
    (SELECT id, at, similarity FROM owned
        ORDER BY {STANDING_FIRST}, similarity DESC NULLS LAST, id LIMIT %(similar)s)
    UNION
    (SELECT id, at, similarity FROM owned
        ORDER BY {STANDING_FIRST}, at DESC, id LIMIT %(recent)s)
    UNION
    SELECT id, at, similarity FROM owned WHERE pinned AND %(recent)s > 0
)
SELECT {COLUMNS}, {ACTIVE} FROM found JOIN memories m USING (id)
ORDER BY {STANDING_FIRST}, similarity DESC NULLS LAST, m.id
"""  # noqa: S608 - only the constant names above are put in


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory as search returns it. `similarity` is -1 to 1, None without a topic or where either has no direction.

    `measures` are the features that a ranker weighs, by name: see `memories.retrieval`.
    """

    id: UUID | str
    version: int
    kind: str
    text: str
    occurred_at: datetime.datetime
    similarity: float | None
    superseded_by: UUID | str | None
    pinned: bool = False
    retired_because: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        return f"memory:{self.id}@{self.version}"


def topic_vector(topic: str) -> Direction | None:
    """The topic's direction; None without a topic, or where the embedder knows nothing in it, or does not answer."""
    try:
        return direction_of(topic)
    except EmbedderFailed as error:
        logger.warning("the topic was not embedded: %s", error)
        return None


def recent_sql(owner: Owner) -> str:
    """Of the owner's memories the newest and the pinned; rows are FoundMemory's.

    It takes `owner`, an id, and `recent`, how many of the newest.
    """
    return RECENT.format(owner="agent_id" if isinstance(owner, Agent) else "team_id")


def memories_find(*, owner: Owner, vector: Direction | None, similar: int, recent: int) -> list[FoundMemory]:
    """The `similar` nearest to the vector together with the `recent` newest; without a vector, the newest alone.

    Where any of the newest are asked for, the pinned ones come along.
    """
    return in_active_space(vector, partial(_found, owner, similar, recent))


def _found(owner: Owner, similar: int, recent: int, vector: Direction | None) -> list[FoundMemory]:
    names = {"owner": "agent_id" if isinstance(owner, Agent) else "team_id"}
    parameters: dict[str, Any] = {"owner": owner.pk, "similar": similar, "recent": recent}
    if vector is not None:
        names |= {"slot": vector.space.slot, "here": vector.space.here}
        parameters |= vector.parameters
    query = (RECENT if vector is None else SIMILAR).format(**names)
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        rows = cursor.fetchall()
    if vector is not None and rows:
        vector.confirm(rows[0][-1])
        rows = [row[:-1] for row in rows]
    return [FoundMemory(*row) for row in rows]
