"""These queries read an agent's graph: what is around an entity, for pages, and the strongest relations, for contexts.

Walks are breadth-first, each in one statement (seed "Context Assembly Specification", "Relation Traversal").
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from msgspec import Struct

from agents.models import Agent
from config.db.statements import Statement, fetch_rows, run_statement
from config.keys.sealed_texts import open_texts
from memories.embeddings.active_model import SLOTS
from memories.models import Entity, Relation
from memories.search.owner_partition import within_shard_of
from teams.sensitivity import owner_clearance

MAX_DEPTH = 3
MAX_ENTITIES = 200
MAX_RELATIONS = 1_000
MOST_SALIENT = 50

# Ordered by distance, then salience, so that the limit cuts off the least relevant entities.
AROUND = """
WITH RECURSIVE reached (id, distance) AS (
    SELECT %(entity)s::uuid, 0
    UNION
    SELECT neighbour.id, reached.distance + 1
    FROM reached, LATERAL (
        SELECT target_id AS id FROM relations WHERE source_id = reached.id AND sensitivity <= %(clearance)s
        UNION ALL
        SELECT source_id FROM relations WHERE target_id = reached.id AND sensitivity <= %(clearance)s
    ) AS neighbour
    WHERE reached.distance < %(depth)s
)
SELECT entities.id
FROM entities JOIN (SELECT id, min(distance) AS distance FROM reached GROUP BY id) AS nearest USING (id)
WHERE entities.agent_id = %(agent)s AND sensitivity <= %(clearance)s
ORDER BY distance, salience DESC, id LIMIT %(entities)s
"""


@dataclass(frozen=True, slots=True)
class Graph:
    """A part of an agent's graph: entities, the nearest or most salient first, and the strongest relations between
    them.
    """

    entities: list[Entity]
    relations: list[Relation]


def load_graph_around(*, agent: Agent, entity: Entity | None, depth: int = 1) -> Graph:
    """Return the graph within `depth` (1 to MAX_DEPTH) relations of the entity, of at most MAX_ENTITIES entities.

    Relations are followed both ways. Without an entity, return the graph of the MOST_SALIENT most salient entities.
    """
    entities = Entity.objects.filter(agent=agent).defer(*SLOTS)
    if entity is None:
        shown = list(entities.order_by("-salience", "id")[:MOST_SALIENT])
    else:
        by_id = entities.in_bulk(ids := _ids_around(agent, entity, depth))
        shown = [by_id[id_] for id_ in ids if id_ in by_id]
    relations = Relation.objects.filter(agent=agent, source__in=shown, target__in=shown)
    return Graph(shown, list(relations.order_by("-weight", "id")[:MAX_RELATIONS]))


def _ids_around(agent: Agent, entity: Entity, depth: int) -> list[UUID]:
    parameters: dict[str, Any] = {
        "agent": agent.pk,
        "entity": entity.pk,
        "clearance": owner_clearance("agent_id", agent.pk),
        "depth": depth,
        "entities": MAX_ENTITIES,
    }
    return [id_ for (id_,) in fetch_rows(AROUND, parameters)]


# UNION adds each entity once per depth, however many relations lead to it. The depth of a relation is that of its
# nearer entity plus one. The last step reads the agent's relations from an index, the heaviest first, until there are
# enough of them: most lie within two or three steps of a hub, and index lookups per entity take eight times as long per
# relation. Ties are read whole, because depth and id decide them.
WALK = """
WITH RECURSIVE reached (entity, depth) AS (
    (
        (SELECT id, 0 FROM entities WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
            AND id = ANY(%(mentioned)s::uuid[]))
        UNION
        (SELECT id, 0 FROM entities
            WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
                AND (%(types)s::text[] IS NULL OR type = ANY(%(types)s))
            ORDER BY salience DESC, id LIMIT %(salient)s)
    )
    UNION
    SELECT neighbour.id, depth + 1 FROM reached, LATERAL (
        SELECT target_id AS id FROM relations WHERE source_id = entity AND sensitivity <= %(clearance)s{of_agent}
        UNION ALL
        SELECT source_id FROM relations WHERE target_id = entity AND sensitivity <= %(clearance)s{of_agent}
    ) AS neighbour
    WHERE depth + 1 < %(depth)s
), nearest AS (
    SELECT entity, min(depth) AS depth FROM reached WHERE depth < %(depth)s GROUP BY entity
), heaviest AS MATERIALIZED (
    SELECT id, source_id, target_id, weight FROM relations
    WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
        AND (source_id IN (SELECT entity FROM nearest) OR target_id IN (SELECT entity FROM nearest))
    ORDER BY weight DESC FETCH FIRST (%(limit)s) ROWS WITH TIES
), strongest AS (
    SELECT heaviest.id, weight, least(from_source.depth, from_target.depth) + 1 AS depth FROM heaviest
        LEFT JOIN nearest AS from_source ON from_source.entity = source_id
        LEFT JOIN nearest AS from_target ON from_target.entity = target_id
    ORDER BY weight DESC, depth, heaviest.id LIMIT %(limit)s
)
SELECT relations.id, relations.version, source.name, relations.type, target.name, relations.directed,
    relations.weight, relations.updated, relations.origin, relations.sensitivity, strongest.depth
FROM strongest JOIN relations USING (id)
    JOIN entities AS source ON source.id = relations.source_id{source_of_agent}
    JOIN entities AS target ON target.id = relations.target_id{target_of_agent}{of_agent}
ORDER BY relations.weight DESC, strongest.depth, relations.id
"""


NAMES = slice(2, 5)
"""The columns of WALK that may be sealed: the names of both entities, and the type between them."""


class WalkedRelation(Struct, frozen=True):
    """A relation with the names of its entities. `depth` is 1 for relations of the entities where the walk begins."""

    id: UUID
    version: int
    source: str
    type: str
    target: str
    directed: bool
    weight: float
    updated: datetime.datetime
    origin: str
    sensitivity: int
    depth: int

    @property
    def ref(self) -> str:
        return f"relation:{self.id}@{self.version}"


def walk_relations(
    *,
    agent: Agent,
    mentioned: Collection[UUID],
    salient: int,
    types: Collection[str] | None,
    depth: int,
    limit: int,
) -> list[WalkedRelation]:
    """Return the strongest relations within `depth` of the mentioned entities and of the `salient` most salient ones.

    Relations are followed both ways. `types` restricts the most salient entities. Each relation is returned once, with
    its smallest depth.
    """
    parameters: dict[str, Any] = {
        "agent": agent.pk,
        "clearance": owner_clearance("agent_id", agent.pk),
        "mentioned": list(mentioned),
        "salient": salient,
        "types": None if types is None else sorted(types),
        "depth": depth,
        "limit": limit,
    }
    walk = WALK.format(
        of_agent=within_shard_of("agent", "relations"),
        source_of_agent=within_shard_of("agent", "source"),
        target_of_agent=within_shard_of("agent", "target"),
    )
    rows = run_statement(Statement(walk, parameters))
    names = open_texts([name for row in rows for name in row[NAMES]])
    return [
        WalkedRelation(*row[: NAMES.start], *names[at : at + 3], *row[NAMES.stop :])
        for at, row in zip(range(0, len(names), 3), rows, strict=True)
    ]
