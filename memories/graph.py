"""The graph of an agent around one entity, breadth-first; or that of its most salient entities."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import Agent
from memories.models import Entity, Relation
from memories.spaces import SLOTS

MAX_DEPTH = 3
MAX_ENTITIES = 200
MAX_RELATIONS = 1_000
MOST_SALIENT = 50

# The nearest first, and of those as near the most salient: so that a limit cuts off what matters least.
AROUND = """
WITH RECURSIVE reached (id, distance) AS (
    SELECT %(entity)s::uuid, 0
    UNION
    SELECT neighbour.id, reached.distance + 1
    FROM reached, LATERAL (
        SELECT target_id AS id FROM relations WHERE source_id = reached.id
        UNION ALL
        SELECT source_id FROM relations WHERE target_id = reached.id
    ) AS neighbour
    WHERE reached.distance < %(depth)s
)
SELECT entities.id
FROM entities JOIN (SELECT id, min(distance) AS distance FROM reached GROUP BY id) AS nearest USING (id)
WHERE entities.agent_id = %(agent)s
ORDER BY distance, salience DESC, id LIMIT %(entities)s
"""


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities, the nearest or most salient first, and the strongest relations between them."""

    entities: list[Entity]
    relations: list[Relation]


def graph_around(*, agent: Agent, entity: Entity | None, depth: int = 1) -> Graph:
    """What lies within `depth` (1 to MAX_DEPTH) relations of the entity, at most MAX_ENTITIES entities.

    Relations lead both ways. Without an entity: the MOST_SALIENT entities.
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
    parameters: dict[str, Any] = {"agent": agent.pk, "entity": entity.pk, "depth": depth, "entities": MAX_ENTITIES}
    with connection.cursor() as cursor:
        cursor.execute(AROUND, parameters)
        return [id_ for (id_,) in cursor.fetchall()]
