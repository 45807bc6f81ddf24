"""REST: the relations of an agent's graph."""

from functools import partial

from rest_framework import serializers

from config.http.api import StrictSerializer
from config.http.fields import Flag, Fraction
from memories.api.fields import ThingId, external_id_field, type_field
from memories.api.filters import by_id, by_value
from memories.api.noun import KeptSerializer, Noun
from memories.models import Relation
from memories.services import kept_create


class RelationUpdateSerializer(StrictSerializer):
    type = type_field(required=False, help_text="works_at, depends_on, …")
    weight = Fraction(required=False)
    directed = Flag(required=False)


class RelationCreateSerializer(RelationUpdateSerializer):
    type = type_field(help_text="works_at, depends_on, …; once per source and target.")
    source = ThingId(  # type: ignore[assignment]  # DRF has an attribute of this name
        source="source_id", help_text="The entity that it leads from."
    )
    target = ThingId(source="target_id", help_text="The entity that it leads to.")
    external_id = external_id_field()


class RelationSerializer(KeptSerializer):
    source = serializers.UUIDField(source="source_id")  # type: ignore[assignment]  # as above
    target = serializers.UUIDField(source="target_id")
    type = serializers.CharField()
    weight = serializers.FloatField()
    directed = serializers.BooleanField()


RELATIONS = Noun(
    name="relations",
    word="relation",
    model=Relation,
    document=RelationSerializer,
    listed=RelationSerializer,
    create=RelationCreateSerializer,
    update=RelationUpdateSerializer,
    creates=partial(kept_create, model=Relation),
    filters={
        "entity": by_id("source", "target", description="Only from or to the entity with this id."),
        "type": by_value("type", "Only of this type."),
    },
)
