"""Serializers of rules."""

from typing import Any

from rest_framework import serializers

from assembly.profiles.serializers import YAML
from config.http.serializers import ExactText, StrictSerializer
from teams.api.serializers import ActorSerializer, SlugField
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

SCOPES = ["agent", "team", "everywhere"]


class RuleSaveSerializer(StrictSerializer):
    content = ExactText(allow_blank=True, max_length=MAX_FILE_CHARACTERS, help_text=YAML)
    enabled = serializers.BooleanField(required=False, help_text="Default: unchanged.")


class RuleCreateSerializer(StrictSerializer):
    name = SlugField()
    content = ExactText(allow_blank=True, max_length=MAX_FILE_CHARACTERS, help_text=YAML)
    agent = SlugField(required=False, help_text="The agent that it is for; with neither it is for everybody.")
    team = SlugField(required=False, help_text="The team that it is for.")
    enabled = serializers.BooleanField(default=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("agent") and attrs.get("team"):
            raise serializers.ValidationError({"team": "A rule is for an agent or for a team. Leave one of them out."})
        return attrs


class RuleSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()
    scope = serializers.ChoiceField(choices=SCOPES)
    agent = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)
    enabled = serializers.BooleanField()
    description = serializers.CharField(help_text="What it is for.")
    error = serializers.CharField(
        allow_null=True, help_text="Why it cannot be used, with the line: say, a source is gone. null: it can be."
    )
    content = serializers.CharField(help_text="YAML.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = ActorSerializer()


class RuleEffectsSerializer(serializers.Serializer[Any]):
    included = serializers.IntegerField()
    boosted = serializers.IntegerField()
    excluded = serializers.IntegerField()


class FiredRuleSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField()
    scope = serializers.ChoiceField(choices=SCOPES)
    effects = RuleEffectsSerializer(help_text="To how many items it did what.")


class UnreadableRuleSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    error = serializers.CharField(help_text="Why it was passed over, with the line.")
