"""REST: the entities of an agent's graph."""

from functools import partial

from rest_framework import serializers

from config.http.api import StrictSerializer
from config.http.fields import Fraction, Line
from memories.api.fields import Properties, external_id_field, lines_field, type_field
from memories.api.filters import by_name, by_value
from memories.api.noun import KeptSerializer, Noun
from memories.models import Entity
from memories.services import kept_create

MAX_NAME_CHARACTERS = 200


class EntityUpdateSerializer(StrictSerializer):
    type = type_field(required=False, help_text="Person, Project, File, …")
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    aliases = lines_field(MAX_NAME_CHARACTERS, required=False, help_text="Its other names.")
    properties = Properties(required=False, help_text="A flat JSON object.")
    salience = Fraction(required=False)


class EntityCreateSerializer(EntityUpdateSerializer):
    type = type_field(help_text="Person, Project, File, …")
    name = Line(max_length=MAX_NAME_CHARACTERS, help_text="Once per agent and type.")
    external_id = external_id_field()


class EntitySerializer(KeptSerializer):
    type = serializers.CharField()
    name = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    properties = serializers.DictField()
    salience = serializers.FloatField()


ENTITIES = Noun(
    name="entities",
    word="entity",
    model=Entity,
    document=EntitySerializer,
    listed=EntitySerializer,
    create=EntityCreateSerializer,
    update=EntityUpdateSerializer,
    creates=partial(kept_create, model=Entity),
    filters={"type": by_value("type", "Only of this type."), "name": by_name()},
)
