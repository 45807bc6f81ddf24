"""REST: the graph of an agent."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.errors import Invalid
from memories.api.entities import ENTITIES, EntitySerializer
from memories.api.relations import RelationSerializer
from memories.graph import MAX_DEPTH, graph_around
from teams.api.view import ApiView


class GraphSerializer(serializers.Serializer[Any]):
    entities = EntitySerializer(many=True, help_text="The nearest, or without an entity the most salient, first.")
    relations = RelationSerializer(many=True, help_text="Those between these entities, the strongest first.")


class GraphView(ApiView):
    @extend_schema(
        operation_id="agents_graph_read",
        parameters=[
            OpenApiParameter("entity", {"type": "string", "format": "uuid"}, description="Around this entity."),
            OpenApiParameter(
                "depth",
                {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "default": 1},
                description="How many relations away from the entity.",
            ),
        ],
        responses=GraphSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What lies around an entity, at most 200 entities; without one, the 50 most salient."""
        query = self.query("entity", "depth")
        agent = agent_for(self.principal, slug)
        depth = _depth(query)
        graph = graph_around(agent=agent, entity=ENTITIES.named_in(agent, query, "entity"), depth=depth)
        return Response(GraphSerializer(graph).data)


def _depth(query: dict[str, str]) -> int:
    text = query.get("depth", "1")
    if text not in {str(depth) for depth in range(1, MAX_DEPTH + 1)}:
        raise Invalid("depth", f"Use a whole number from 1 to {MAX_DEPTH}.")
    if "depth" in query and "entity" not in query:
        raise Invalid("depth", "Name the entity, too, that the depth is counted from.")
    return int(text)
