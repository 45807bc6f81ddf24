"""This module holds the REST endpoint of tools."""

from functools import partial

from rest_framework import serializers

from config.http.serializers import ExactText, Line
from memories.api.fields import MAX_TEXT_CHARACTERS, JsonObject, external_id_field
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.models import Tool
from memories.services import agent_items_create
from teams.api.serializers import LevelledSerializer

MAX_NAME_CHARACTERS = 120


class ToolUpdateSerializer(LevelledSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    description = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, required=False)
    schema = JsonObject(
        max_characters=MAX_TEXT_CHARACTERS, required=False, help_text="JSON Schema 2020-12 of its arguments."
    )


class ToolCreateSerializer(ToolUpdateSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, help_text="Once per agent.")
    external_id = external_id_field()


class ToolSerializer(AgentItemSerializer):
    name = serializers.CharField()
    description = serializers.CharField()
    schema = serializers.DictField()


TOOLS = ItemEndpoint(
    name="tools",
    word="tool",
    model=Tool,
    document=ToolSerializer,
    listed=ToolSerializer,
    create=ToolCreateSerializer,
    update=ToolUpdateSerializer,
    creates=partial(agent_items_create, model=Tool),
)
