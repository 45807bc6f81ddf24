"""Serializers of agents and their daily logs."""

from typing import Any

from rest_framework import serializers

from agents.models import Agent, valid_timezone
from config.http.serializers import ExactText, Line, NotesField, StrictSerializer, VisibleText
from teams.api.serializers import LEVEL_HELP, MAX_NAME_CHARACTERS, LevelField, SignedSerializer, SlugField
from teams.slugs import MAX_SLUG_CHARACTERS
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_TEAMS = 200
MAX_PARAGRAPH_CHARACTERS = 200_000


def timezone_field(**options: Any) -> ExactText:
    """Return the field of an IANA time zone, which decides when the agent's days begin and end."""
    return ExactText(max_length=60, validators=[valid_timezone], help_text="IANA, like Europe/Berlin.", **options)


def teams_field(**options: Any) -> serializers.ListField:
    """Return the field of slugs of teams that the caller may see."""
    return serializers.ListField(
        child=ExactText(max_length=MAX_SLUG_CHARACTERS), max_length=MAX_TEAMS, help_text="Slugs.", **options
    )


def profile_field(**options: Any) -> ExactText:
    """Return the field of the context profile for requests that name none."""
    said = "The context profile for requests that name none; empty: conversation."
    return ExactText(max_length=60, allow_blank=True, required=False, help_text=said, **options)


class AgentCreateSerializer(StrictSerializer):
    slug = SlugField()
    name = Line(max_length=MAX_NAME_CHARACTERS)
    teams = teams_field(required=False, default=list)
    instructions = ExactText(
        allow_blank=True, required=False, default="", max_length=MAX_FILE_CHARACTERS, help_text="Its INSTRUCTIONS file."
    )
    timezone = timezone_field(required=False, default="UTC")
    profile = profile_field(default="")


class AgentUpdateSerializer(StrictSerializer):
    name = Line(max_length=MAX_NAME_CHARACTERS, required=False)
    timezone = timezone_field(required=False)
    profile = profile_field()
    teams = teams_field(required=False)
    clearance = LevelField(required=False, help_text="The sensitivity up to which its contexts and keys read.")


class AgentSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    timezone = serializers.CharField()
    profile = serializers.CharField(help_text="The context profile for requests that name none; empty: conversation.")
    teams = serializers.SerializerMethodField(help_text="Slugs of its teams that you may see.")
    clearance = LevelField(help_text="The sensitivity up to which its contexts and keys read.")
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField(source="created")

    def get_teams(self, agent: Agent) -> list[str]:
        return [team.slug for team in agent.teams.all()]


class ParagraphSerializer(StrictSerializer):
    text = VisibleText(max_length=MAX_PARAGRAPH_CHARACTERS, help_text="Markdown, added as sent.")


class DailyLogSerializer(SignedSerializer):
    date = serializers.DateField()
    sensitivity = LevelField(help_text=LEVEL_HELP)
    content = serializers.CharField()
    updated_at = serializers.DateTimeField()
    notes = NotesField()
