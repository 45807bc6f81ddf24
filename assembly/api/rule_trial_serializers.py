"""What trying a rule over REST takes and gives."""

from typing import Any

from rest_framework import serializers

from assembly.api.profile_serializers import YAML
from assembly.api.serializers import WarningSerializer
from assembly.rules.comparing import EFFECTS
from config.http.api import StrictSerializer
from config.http.fields import ExactText
from teams.api.serializers import SlugField
from teams.files import MAX_FILE_CHARACTERS


class RuleTrySerializer(StrictSerializer):
    name = SlugField(required=False, help_text="A stored rule: it is tried for those whom it is for.")
    content = ExactText(
        allow_blank=True, required=False, max_length=MAX_FILE_CHARACTERS, help_text=f"{YAML} Needed without a name."
    )
    agent = SlugField(required=False, help_text="The agent that a new rule is for; with neither it is for everybody.")
    team = SlugField(required=False, help_text="The team that a new rule is for.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "name" not in attrs and "content" not in attrs:
            raise serializers.ValidationError({"content": "Send the text of a rule, or the name of a stored one."})
        if attrs.get("agent") and attrs.get("team"):
            raise serializers.ValidationError({"team": "A rule is for an agent or for a team. Leave one of them out."})
        if owner := next((owner for owner in ("agent", "team") if "name" in attrs and owner in attrs), None):
            raise serializers.ValidationError({owner: "A stored rule knows whom it is for. Leave this out."})
        return attrs


class FateSerializer(serializers.Serializer[Any]):
    section = serializers.CharField(help_text="The key of the section.")
    code = serializers.CharField(help_text="The reason code.")
    included = serializers.BooleanField()
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    tokens = serializers.IntegerField(help_text="By which the item lengthens the context.")


class RuleChangeSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    effect = serializers.ChoiceField(
        choices=list(EFFECTS),
        help_text="in: it comes in; out: it goes; moved: to another section; changed: its score, rank or cut.",
    )
    before = FateSerializer(allow_null=True, help_text="null: it was not considered there.")
    after = FateSerializer(allow_null=True, help_text="null: it would not be considered there.")


class RuleTrialSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created = serializers.DateTimeField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    topic = serializers.CharField()
    applied = serializers.BooleanField(help_text="A rule of this name had applied there.")
    applies = serializers.BooleanField(help_text="The rule would have applied there.")
    tokens_before = serializers.IntegerField()
    tokens_after = serializers.IntegerField()
    warnings = WarningSerializer(many=True, help_text="Those that the context would have.")
    changes = RuleChangeSerializer(many=True)


class RuleTrialsSerializer(serializers.Serializer[Any]):
    tried = serializers.IntegerField(help_text="How many of the last contexts were tried.")
    applying = serializers.IntegerField(help_text="In how many of them the rule would have applied.")
    changed = serializers.IntegerField(help_text="How many of them would have been different.")
    damaged = serializers.IntegerField(help_text="How many were passed over: their record could not be replayed.")
    untried = serializers.IntegerField(help_text="For how many there was no time: trying stops after two seconds.")
    contexts = RuleTrialSerializer(many=True, help_text="Those that were tried, the newest first.")
