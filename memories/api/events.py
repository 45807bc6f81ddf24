"""This module holds the REST endpoints of sessions and events."""

from functools import partial
from typing import Any

from rest_framework import serializers

from config.http.serializers import ExactText, Line, Moment
from memories.api.fields import READABLE_HELP, ItemId, JsonObject, external_id_field, valid_event_type
from memories.api.filters import by_id, by_value, since
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.lifecycle.listed_texts import is_readable
from memories.models import Event, Session
from memories.services import agent_items_create, events_create
from teams.api.serializers import LevelledSerializer

MAX_TITLE_CHARACTERS = 200


class SessionCreateSerializer(LevelledSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS, allow_blank=True, required=False)
    started_at = Moment(required=False, help_text="Default: now. Taken as UTC without an offset.")
    ended_at = Moment(allow_null=True, required=False, help_text="Taken as UTC without an offset.")
    external_id = external_id_field()


class SessionUpdateSerializer(LevelledSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS, allow_blank=True, required=False)
    ended_at = Moment(allow_null=True, required=False, help_text="null: it is active.")


class SessionSerializer(AgentItemSerializer):
    title = serializers.CharField()
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


SESSIONS = ItemEndpoint(
    name="sessions",
    word="session",
    model=Session,
    document=SessionSerializer,
    listed=SessionSerializer,
    create=SessionCreateSerializer,
    update=SessionUpdateSerializer,
    creates=partial(agent_items_create, model=Session),
)

MAX_CONTENT_CHARACTERS = 100_000
SESSION_NAMED_TWICE = "Name the session by its id or by its key, not by both."


class EventUpdateSerializer(LevelledSerializer):
    outcome = Line(max_length=40, allow_blank=True, required=False, help_text="success, failure, …")
    task = ItemId(source="task_id", allow_null=True, required=False, help_text="The task that it was a part of.")


class EventCreateSerializer(EventUpdateSerializer):
    type = ExactText(
        max_length=40,
        validators=[valid_event_type],
        help_text="file_read, file_write, shell_exec, error, message, tool_result, or a word of your own.",
    )
    content = JsonObject(
        max_characters=MAX_CONTENT_CHARACTERS,
        help_text=f"What happened: a JSON object, at most {MAX_CONTENT_CHARACTERS:,} characters.",
    )
    tool = Line(max_length=120, allow_blank=True, required=False, help_text="A tool_result needs its tool's name.")
    occurred_at = Moment(required=False, help_text="Default: now. Taken as UTC without an offset.")
    session = ItemId(source="session_id", allow_null=True, required=False, help_text="The session's id.")
    session_key = ExactText(
        max_length=200, required=False, help_text="Or its external id; a missing session is created."
    )
    external_id = external_id_field()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("session_id") and attrs.get("session_key"):
            raise serializers.ValidationError({"session_key": SESSION_NAMED_TWICE})
        return attrs


class EventSerializer(AgentItemSerializer):
    session = serializers.UUIDField(source="session_id", allow_null=True)
    task = serializers.UUIDField(source="task_id", allow_null=True)
    type = serializers.CharField()
    content = serializers.DictField()
    outcome = serializers.CharField()
    tool = serializers.CharField()
    size = serializers.IntegerField(help_text="Characters of the content as compact JSON.")
    occurred_at = serializers.DateTimeField()
    is_readable = serializers.SerializerMethodField(help_text=READABLE_HELP)

    def get_is_readable(self, event: Event) -> bool:
        return is_readable(event.content)


EVENTS = ItemEndpoint(
    name="events",
    word="event",
    model=Event,
    document=EventSerializer,
    listed=EventSerializer,
    create=EventCreateSerializer,
    update=EventUpdateSerializer,
    creates=events_create,
    filters={
        "session": by_id("session", description="Only of the session with this id."),
        "type": by_value("type", "Only of this type."),
        "task": by_id("task", description="Only of the task with this id."),
        "since": since("occurred_at", "Only what occurred then or later."),
    },
    order=("occurred_at", "id"),
)
