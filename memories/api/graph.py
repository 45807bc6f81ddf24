"""This module holds the REST endpoints of entities and relations, and the view of an agent's graph."""

from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.errors import Invalid
from config.http.serializers import Flag, Fraction, Line
from memories.api.fields import ItemId, Properties, external_id_field, lines_field, type_field
from memories.api.filters import by_id, by_name, by_value, by_whole_name
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.models import Entity, Relation
from memories.search.graph_walk import MAX_DEPTH, load_graph_around
from memories.services import agent_items_create
from teams.api.serializers import LevelledSerializer
from teams.api.view import ApiView

MAX_NAME_CHARACTERS = 200


class EntityUpdateSerializer(LevelledSerializer):
    type = type_field(required=False, help_text="Person, Project, File, …")
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    aliases = lines_field(MAX_NAME_CHARACTERS, required=False, help_text="Its other names.")
    properties = Properties(required=False, help_text="A flat JSON object.")
    salience = Fraction(required=False)


class EntityCreateSerializer(EntityUpdateSerializer):
    type = type_field(help_text="Person, Project, File, …")
    name = Line(max_length=MAX_NAME_CHARACTERS, help_text="Once per agent and type.")
    external_id = external_id_field()


class EntitySerializer(AgentItemSerializer):
    type = serializers.CharField()
    name = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    properties = serializers.DictField()
    salience = serializers.FloatField()


ENTITIES = ItemEndpoint(
    name="entities",
    word="entity",
    model=Entity,
    document=EntitySerializer,
    listed=EntitySerializer,
    create=EntityCreateSerializer,
    update=EntityUpdateSerializer,
    creates=partial(agent_items_create, model=Entity),
    filters={"type": by_value("type", "Only of this type."), "name": by_name()},
)


class RelationUpdateSerializer(LevelledSerializer):
    type = type_field(required=False, help_text="works_at, depends_on, …")
    weight = Fraction(required=False)
    directed = Flag(required=False)


class RelationCreateSerializer(RelationUpdateSerializer):
    type = type_field(help_text="works_at, depends_on, …; once per source and target.")
    source = ItemId(  # type: ignore[assignment]  # DRF has an attribute of this name
        source="source_id", help_text="The entity that it leads from."
    )
    target = ItemId(source="target_id", help_text="The entity that it leads to.")
    external_id = external_id_field()


class RelationSerializer(AgentItemSerializer):
    source = serializers.UUIDField(source="source_id")  # type: ignore[assignment]  # as above
    target = serializers.UUIDField(source="target_id")
    type = serializers.CharField()
    weight = serializers.FloatField()
    directed = serializers.BooleanField()


RELATIONS = ItemEndpoint(
    name="relations",
    word="relation",
    model=Relation,
    document=RelationSerializer,
    listed=RelationSerializer,
    create=RelationCreateSerializer,
    update=RelationUpdateSerializer,
    creates=partial(agent_items_create, model=Relation),
    filters={
        "entity": by_id("source", "target", description="Only from or to the entity with this id."),
        "type": by_whole_name("type", "Only of this type."),
    },
)


class GraphSerializer(serializers.Serializer[Any]):
    entities = EntitySerializer(many=True, help_text="The nearest, or without an entity the most salient, first.")
    relations = RelationSerializer(many=True, help_text="Those between these entities, the strongest first.")


class GraphView(ApiView):
    @extend_schema(
        operation_id="agents_graph_read",
        summary="Get graph of agent",
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
        """Return the graph around an entity, at most 200 entities; without an entity, the 50 most salient ones."""
        query = self.query("entity", "depth")
        agent = agent_for(self.principal, slug)
        depth = _depth(query)
        graph = load_graph_around(agent=agent, entity=ENTITIES.find_by_parameter(agent, query, "entity"), depth=depth)
        return Response(GraphSerializer(graph).data)


def _depth(query: dict[str, str]) -> int:
    text = query.get("depth", "1")
    if text not in {str(depth) for depth in range(1, MAX_DEPTH + 1)}:
        raise Invalid("depth", f"Use a whole number from 1 to {MAX_DEPTH}.")
    if "depth" in query and "entity" not in query:
        raise Invalid("depth", "Name the entity, too, that the depth is counted from.")
    return int(text)
