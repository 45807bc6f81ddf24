"""This module holds the REST endpoint of patterns."""

from functools import partial

from rest_framework import serializers

from config.http.serializers import Line, VisibleText
from memories.api.fields import MAX_TEXT_CHARACTERS, Count, choice_field, external_id_field, lines_field, type_field
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.models import Pattern
from memories.services import agent_items_create
from teams.api.serializers import LevelledSerializer

MAX_NAME_CHARACTERS = 200
INTENTS = ("question", "action", "fix", "explain", "other")  # seed: context assembly specification, QuerySignals


class PatternUpdateSerializer(LevelledSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    keywords = lines_field(80, required=False, help_text="It applies when a query has one of them,")
    intents = serializers.ListField(
        child=choice_field(INTENTS), max_length=len(INTENTS), required=False, help_text="or one of these intents,"
    )
    entity_types = serializers.ListField(
        child=type_field(), max_length=50, required=False, help_text="or mentions an entity of one of these types."
    )
    guidance = VisibleText(max_length=MAX_TEXT_CHARACTERS, required=False, help_text="What to do then.")
    successes = Count(required=False)
    applications = Count(required=False)


class PatternCreateSerializer(PatternUpdateSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, help_text="Once per agent.")
    guidance = VisibleText(max_length=MAX_TEXT_CHARACTERS, help_text="What to do then.")
    external_id = external_id_field()


class PatternSerializer(AgentItemSerializer):
    name = serializers.CharField()
    keywords = serializers.ListField(child=serializers.CharField())
    intents = serializers.ListField(child=serializers.CharField())
    entity_types = serializers.ListField(child=serializers.CharField())
    guidance = serializers.CharField()
    successes = serializers.IntegerField()
    applications = serializers.IntegerField()
    success_rate = serializers.FloatField(help_text="Successes by applications; 0 when it was never applied.")


PATTERNS = ItemEndpoint(
    name="patterns",
    word="pattern",
    model=Pattern,
    document=PatternSerializer,
    listed=PatternSerializer,
    create=PatternCreateSerializer,
    update=PatternUpdateSerializer,
    creates=partial(agent_items_create, model=Pattern),
)
