"""What the assemblies' endpoints take and give."""

from typing import Any

from rest_framework import serializers

from assembly.engine.codes import Code
from assembly.profiles import SHIPPED
from assembly.service import DEFAULT_TOKENIZER, MAX_TOKENS, MAX_TOPIC_CHARACTERS
from config.http.api import StrictSerializer
from config.http.fields import ExactText, Moment


class AssemblyRequestSerializer(StrictSerializer):
    agent = ExactText(max_length=60, help_text="The agent's slug.")
    team = ExactText(
        max_length=60, required=False, allow_null=True, default=None, help_text="The slug of one of its teams."
    )
    topic = ExactText(
        max_length=MAX_TOPIC_CHARACTERS,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the conversation is about: memories are then searched by meaning.",
    )
    profile = ExactText(
        max_length=60, required=False, default="conversation", help_text=f"One of: {', '.join(SHIPPED)}."
    )
    max_tokens = serializers.IntegerField(
        min_value=0,
        max_value=MAX_TOKENS,
        required=False,
        allow_null=True,
        default=None,
        help_text="The budget; the profile's own unless given.",
    )
    tokenizer = ExactText(max_length=60, required=False, default=DEFAULT_TOKENIZER)
    now = Moment(
        required=False,
        allow_null=True,
        default=None,
        help_text="The moment to assemble for; taken as UTC without an offset. Default: now.",
    )


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class SectionItemSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    code = serializers.CharField()
    tokens = serializers.IntegerField()


class SectionSerializer(serializers.Serializer[Any]):
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the heading; DRF has an attribute of this name
    tokens = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True, help_text="null: no cap of its own.")
    status = serializers.ChoiceField(choices=["whole", "cut", "partial", "left_out", "empty"])
    items = SectionItemSerializer(many=True, help_text="What is in, in order.")


class SourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    count = serializers.IntegerField(help_text="Rows that it returned.")
    limit = serializers.IntegerField(help_text="Rows that it would have returned at most.")
    ms = serializers.IntegerField()


class MetadataSerializer(serializers.Serializer[Any]):
    considered = serializers.IntegerField()
    included = serializers.IntegerField()
    left_out = serializers.IntegerField()
    sources = SourceSerializer(many=True)
    assembly_ms = serializers.IntegerField()


class AssemblySummarySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    profile = serializers.CharField()
    tokenizer = serializers.CharField()
    now = serializers.DateTimeField()
    budget = serializers.IntegerField()
    tokens = serializers.IntegerField()
    truncated = serializers.BooleanField(help_text="Something was cut, or left out for want of room.")
    warnings = WarningSerializer(many=True)
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")


class AssemblySerializer(AssemblySummarySerializer):
    content = serializers.CharField(help_text="The finished context.")
    sections = SectionSerializer(many=True)
    metadata = MetadataSerializer()


class DecisionSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    ref = serializers.CharField()
    section = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # of the candidate; DRF has an attribute of this name
    code = serializers.ChoiceField(choices=[code.value for code in Code])
    included = serializers.BooleanField()
    reason = serializers.CharField(help_text="The code as a plain sentence.")
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    signals = serializers.DictField(child=serializers.FloatField())
    tokens = serializers.IntegerField(help_text="By how much it lengthened the context; 0 when it was left out.")
    tokens_full = serializers.IntegerField(help_text="Of the whole item, counted alone.")
    detail = serializers.DictField()


class ReplaySerializer(serializers.Serializer[Any]):
    identical = serializers.BooleanField()
    sha256 = serializers.CharField()
