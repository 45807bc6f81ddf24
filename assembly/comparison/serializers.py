"""Serializers of comparisons: two contexts, their differences and causes."""

from typing import Any

from rest_framework import serializers

from agents.models import AgentFile
from assembly.comparison.causes import CAUSE_KINDS
from assembly.comparison.side_by_side import PARAMETER_NAMES
from assembly.contexts.serializers import WarningSerializer
from assembly.engine.diff import CHANGE_EFFECTS
from assembly.engine.types import SECTION_STATUSES
from teams.api.serializers import ActorSerializer
from teams.models import TeamFile
from teams.versioned_text.serializers import HunkSerializer


class DecisionSummarySerializer(serializers.Serializer[Any]):
    section = serializers.CharField(help_text="The key of the section.")
    code = serializers.CharField(help_text="The reason code.")
    included = serializers.BooleanField()
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    tokens = serializers.IntegerField(help_text="By which the item lengthens the context.")


KEYS = (*AgentFile.Key.values, *TeamFile.Key.values)


class SectionStateSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    status = serializers.ChoiceField(choices=SECTION_STATUSES)
    included = serializers.IntegerField(help_text="Items that are in.")
    considered = serializers.IntegerField()


class SectionChangeSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    layer = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the heading; DRF has an attribute of this name
    same = serializers.BooleanField(help_text="A reader would see no difference in it.")
    before = SectionStateSerializer(allow_null=True, help_text="null: the context has no such section.")
    after = SectionStateSerializer(allow_null=True)


class TrialChangeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField(help_text="The later version; a previewed text as …@draft.")
    effect = serializers.ChoiceField(
        choices=list(CHANGE_EFFECTS),
        help_text=("in: added; out: removed; moved: to another section; changed: its text, score, rank or truncation."),
    )
    truncated = serializers.BooleanField(help_text="It stays in, with more missing than before.")
    reason = serializers.CharField(allow_null=True, help_text="Why, in a plain sentence.")
    before = DecisionSummarySerializer(allow_null=True, help_text="null: it was not considered there.")
    after = DecisionSummarySerializer(allow_null=True, help_text="null: it would not be considered there.")


CONTENT = "content"
"""The value of `include` for the texts of both contexts."""


class ComparedContextSerializer(serializers.Serializer[Any]):
    tokens = serializers.IntegerField()
    budget = serializers.IntegerField()
    tokenizer = serializers.CharField()
    profile = serializers.CharField()
    profile_version = serializers.IntegerField()
    topic = serializers.CharField()
    now = serializers.DateTimeField(help_text="The moment that it is for.")
    rules = serializers.ListField(child=serializers.CharField(), help_text="Those that fired, as hush@2.")
    sha256 = serializers.CharField(help_text="Of the content in UTF-8, hexadecimal.")
    warnings = WarningSerializer(many=True)
    content = serializers.CharField(required=False, help_text="With `include=content`.")


class ParameterDiffSerializer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(choices=list(PARAMETER_NAMES))
    section = serializers.CharField(allow_null=True, help_text="The heading, for what a profile says of one section.")
    before = serializers.CharField()
    after = serializers.CharField()


class TextDifferenceSerializer(serializers.Serializer[Any]):
    changes = serializers.IntegerField(help_text="How many places changed.")
    words_added = serializers.IntegerField()
    words_removed = serializers.IntegerField()
    hunks = HunkSerializer(many=True)


class SideBySideSerializer(serializers.Serializer[Any]):
    summary = serializers.CharField(help_text="How much is different, in plain sentences.")
    same = serializers.BooleanField(help_text="Both texts are the same, to the letter.")
    before = ComparedContextSerializer()
    after = ComparedContextSerializer()
    settings = ParameterDiffSerializer(many=True, help_text="The parameters that differ.")
    sections = SectionChangeSerializer(many=True)
    changes = TrialChangeSerializer(many=True)
    difference = TextDifferenceSerializer()
    missing_sources = serializers.ListField(
        child=serializers.CharField(), help_text="Sources that could not be read, on either side."
    )


class CauseSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=list(CAUSE_KINDS))
    message = serializers.CharField(help_text="A plain sentence.")
    ref = serializers.CharField(allow_null=True, help_text="The item, in any version.")
    name = serializers.CharField(allow_null=True)
    before = serializers.IntegerField(allow_null=True, help_text="The earlier version; tokens, for limits and budgets.")
    after = serializers.IntegerField(allow_null=True)
    changed_by = ActorSerializer(allow_null=True, help_text="The author of the newest version.")
    changed_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


class ExplainedChangeSerializer(TrialChangeSerializer):
    causes = CauseSerializer(many=True, help_text="Why it is different; at least one.")


class CompareSerializer(SideBySideSerializer):
    before_id = serializers.UUIDField()
    after_id = serializers.UUIDField()
    causes = CauseSerializer(many=True, help_text="The changes from one to the other, each item once.")
    changes = ExplainedChangeSerializer(many=True)
