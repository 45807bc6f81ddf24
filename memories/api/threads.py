"""This module holds the REST endpoint of threads."""

from functools import partial

from rest_framework import serializers

from config.http.serializers import ExactText, Line, Moment
from memories.api.fields import MAX_TEXT_CHARACTERS, choice_field, external_id_field
from memories.api.filters import by_choice
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.models import Thread, ThreadStatus
from memories.services import agent_items_create, thread_update
from teams.api.serializers import LevelledSerializer

MAX_TITLE_CHARACTERS = 200


class ThreadUpdateSerializer(LevelledSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS, required=False)
    status = choice_field(ThreadStatus.values, required=False)
    summary = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, required=False, help_text="The summary.")
    touched_at = Moment(required=False, help_text="When something last happened in it. Default: now.")


class ThreadCreateSerializer(ThreadUpdateSerializer):
    title = Line(max_length=MAX_TITLE_CHARACTERS)
    external_id = external_id_field()


class ThreadSerializer(AgentItemSerializer):
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=ThreadStatus.values)
    summary = serializers.CharField()
    touched_at = serializers.DateTimeField()


THREADS = ItemEndpoint(
    name="threads",
    word="thread",
    model=Thread,
    document=ThreadSerializer,
    listed=ThreadSerializer,
    create=ThreadCreateSerializer,
    update=ThreadUpdateSerializer,
    creates=partial(agent_items_create, model=Thread),
    updates=thread_update,
    filters={"status": by_choice("status", ThreadStatus.values, "Only with this status.")},
)
