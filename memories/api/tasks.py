"""REST: task frames, as a tree. Most agents use the task stack instead."""

from functools import partial

from rest_framework import serializers

from config.http.api import StrictSerializer
from config.http.fields import ExactText, VisibleText
from memories.api.fields import MAX_TEXT_CHARACTERS, ThingId, choice_field, external_id_field
from memories.api.filters import by_choice, by_id
from memories.api.noun import KeptSerializer, Noun
from memories.models import TaskFrame, TaskStatus
from memories.services import kept_create


class TaskUpdateSerializer(StrictSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS, required=False)
    status = choice_field(TaskStatus.values, required=False)
    result = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, required=False)


class TaskCreateSerializer(TaskUpdateSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS)
    parent = ThingId(  # type: ignore[assignment]  # DRF has an attribute of this name
        source="parent_id", allow_null=True, required=False, help_text="The task that this is a part of."
    )
    session = ThingId(
        source="session_id", allow_null=True, required=False, help_text="Default: the session of the parent."
    )
    external_id = external_id_field()


class TaskSerializer(KeptSerializer):
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]  # as above
    session = serializers.UUIDField(source="session_id", allow_null=True)
    goal = serializers.CharField()
    status = serializers.ChoiceField(choices=TaskStatus.values)
    result = serializers.CharField()
    depth = serializers.IntegerField(help_text="0 for a root.")


TASKS = Noun(
    name="tasks",
    word="task",
    model=TaskFrame,
    document=TaskSerializer,
    listed=TaskSerializer,
    create=TaskCreateSerializer,
    update=TaskUpdateSerializer,
    creates=partial(kept_create, model=TaskFrame),
    filters={
        "status": by_choice("status", TaskStatus.values, "Only with this status."),
        "session": by_id("session", description="Only of the session with this id."),
        "parent": by_id("parent", description="Only the parts of the task with this id."),
    },
)
