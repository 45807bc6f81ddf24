"""What looking back over REST takes and gives."""

from typing import Any

from rest_framework import serializers

from assembly.api.serializers import WarningSerializer
from assembly.asked import DEFAULT_PROFILE, DEFAULT_TOKENIZER, MAX_TOKENS, MAX_TOPIC_CHARACTERS
from assembly.engine.codes import DECISION_CODES
from assembly.engine.types import STATUSES
from assembly.profiles import SHIPPED
from config.http.api import StrictSerializer
from config.http.fields import ExactText, Moment


class MomentSerializer(StrictSerializer):
    at = Moment(
        help_text="The moment, as 2026-03-01T12:00:00Z; without an offset it is UTC. In an address, + is written %2B."
    )


class AsOfRequestSerializer(MomentSerializer):
    team = ExactText(max_length=60, required=False, default="", help_text="The slug of one of the agent's teams.")
    topic = ExactText(max_length=MAX_TOPIC_CHARACTERS, required=False, allow_blank=True, default="")
    profile = ExactText(
        max_length=60,
        required=False,
        default=DEFAULT_PROFILE,
        help_text=f"{', '.join(SHIPPED)}, or one that your admins had written by then.",
    )
    max_tokens = serializers.IntegerField(
        min_value=0, max_value=MAX_TOKENS, required=False, default=None, help_text="The profile's own unless given."
    )
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)


class AsOfItemSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField(help_text="With the version of then, where it keeps versions.")
    section = serializers.CharField()
    code = serializers.ChoiceField(choices=DECISION_CODES)
    included = serializers.BooleanField()
    reason = serializers.CharField(help_text="The code as a plain sentence.")
    rank = serializers.IntegerField(allow_null=True)
    tokens = serializers.IntegerField()
    tokens_full = serializers.IntegerField()


class AsOfSectionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the heading; DRF has an attribute of this name
    tokens = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True, help_text="null: no cap of its own.")
    status = serializers.ChoiceField(choices=STATUSES)


class NearSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created = serializers.DateTimeField()
    topic = serializers.CharField()


class NearestSerializer(serializers.Serializer[Any]):
    before = NearSerializer(allow_null=True, help_text="The last recorded up to the moment.")
    after = NearSerializer(allow_null=True, help_text="The first recorded after it.")


class AsOfSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    profile = serializers.CharField()
    profile_version = serializers.IntegerField(help_text="The version of then.")
    tokenizer = serializers.CharField()
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField()
    truncated = serializers.BooleanField()
    warnings = WarningSerializer(many=True)
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    content = serializers.CharField(help_text="What the agent would have been told.")
    sections = AsOfSectionSerializer(many=True)
    items = AsOfItemSerializer(many=True, help_text="All that was considered, in the order of deciding.")
    limits = WarningSerializer(many=True, help_text="What is not as of then, since nobody keeps its history.")
    nearest = NearestSerializer(help_text="What the agent was really told near then.")
