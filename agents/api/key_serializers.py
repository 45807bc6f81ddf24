"""Serializers of API keys."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from agents.models import ApiKey
from config.http.serializers import Line, Moment, StrictSerializer
from teams.api.serializers import MAX_NAME_CHARACTERS, ActorField


class FutureMoment(Moment):
    """A date and time in the future."""

    default_error_messages = {"past": "This moment is over. Use a later one, or null for a key that does not expire."}

    def to_internal_value(self, value: Any) -> Any:
        moment = super().to_internal_value(value)
        if moment <= timezone.now():
            self.fail("past")
        return moment


class AdminKeyCreateSerializer(StrictSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, help_text="What the key is for; the author of what it writes.")
    expires_at = FutureMoment(
        source="expires", required=False, allow_null=True, default=None, help_text="null: it does not expire."
    )


class AgentKeyCreateSerializer(AdminKeyCreateSerializer):
    scopes = serializers.ListField(
        child=serializers.ChoiceField(
            choices=ApiKey.Scope.values,
            error_messages={"invalid_choice": f"Use one of: {', '.join(ApiKey.Scope.values)}."},
        ),
        max_length=len(ApiKey.Scope.values),
        required=False,
        default=list,
        help_text="Additional permissions: " + ", ".join(ApiKey.Scope.values) + ".",
    )


class KeySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    lookup = serializers.CharField(help_text="The eight characters after `dsr_`.")
    agent = serializers.CharField(source="agent.slug", allow_null=True, help_text="null: an admin's key.")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField(source="created")
    created_by = ActorField("creator", ref="created_by")
    expires_at = serializers.DateTimeField(source="expires", allow_null=True)
    last_used_at = serializers.DateTimeField(source="last_used", allow_null=True, help_text="Right to five minutes.")
    revoked_at = serializers.DateTimeField(source="revoked", allow_null=True)
    teams = serializers.SerializerMethodField(help_text="Slugs of the teams that it reaches.")

    def get_teams(self, key: ApiKey) -> list[str]:
        return [team.slug for team in self.context["reached"][key.id]]


class CreatedKeySerializer(KeySerializer):
    key = serializers.CharField(allow_null=True, help_text="Shown only now. null in the answer to a repeat.")


class TeamKeySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    lookup = serializers.CharField(help_text="The eight characters after `dsr_`.")
    agent = serializers.CharField(source="agent.slug")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.CharField())
    created_at = serializers.DateTimeField(source="created")
    created_by = ActorField("creator", ref="created_by")
    expires_at = serializers.DateTimeField(source="expires", allow_null=True)
    last_used_at = serializers.DateTimeField(source="last_used", allow_null=True, help_text="Right to five minutes.")
    reaches = serializers.SerializerMethodField(help_text="Whether it reaches this team.")

    def get_reaches(self, key: ApiKey) -> bool:
        return key.id in self.context["reaching"]
