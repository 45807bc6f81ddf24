"""This module holds the REST endpoint of task frames, and views of the task stack, which most agents use instead."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, LOCATION
from config.http.serializers import ExactText, NotesField, StrictSerializer, VisibleText
from memories.api.events import SESSIONS
from memories.api.fields import MAX_TEXT_CHARACTERS, ItemId, choice_field, external_id_field
from memories.api.filters import by_choice, by_id
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.models import Session, TaskFrame, TaskStatus
from memories.services import agent_items_create, task_path, task_pop, task_push
from teams.api.serializers import LevelledSerializer
from teams.api.view import ApiView
from teams.principal import Action


class TaskUpdateSerializer(LevelledSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS, required=False)
    status = choice_field(TaskStatus.values, required=False)
    result = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, required=False)


class TaskCreateSerializer(TaskUpdateSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS)
    parent = ItemId(  # type: ignore[assignment]  # DRF has an attribute of this name
        source="parent_id", allow_null=True, required=False, help_text="The task that this is a part of."
    )
    session = ItemId(
        source="session_id", allow_null=True, required=False, help_text="Default: the session of the parent."
    )
    external_id = external_id_field()


MAX_CHILDREN = 100
CHILDREN = Prefetch(
    "children",
    TaskFrame.objects.only("id", "parent_id").order_by("-created", "-id")[:MAX_CHILDREN],
    to_attr="newest_children",
)


def task_documents(frames: Sequence[TaskFrame]) -> list[dict[str, Any]]:
    """Return tasks as JSON, with the ids of their parts, which take one query."""
    prefetch_related_objects(frames, CHILDREN)
    return [dict(TaskSerializer(frame).data) for frame in frames]


class TaskSerializer(AgentItemSerializer):
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]  # as above
    session = serializers.UUIDField(source="session_id", allow_null=True)
    goal = serializers.CharField()
    status = serializers.ChoiceField(choices=TaskStatus.values)
    result = serializers.CharField()
    depth = serializers.IntegerField(help_text="0 for a root.")
    children = serializers.SerializerMethodField(
        help_text=f"The ids of its parts, oldest first; of more than {MAX_CHILDREN} the newest. `?parent=` lists all."
    )

    def get_children(self, frame: TaskFrame) -> list[UUID]:
        prefetch_related_objects([frame], CHILDREN)  # does nothing for the frames of a list, which have theirs
        return [child.id for child in frame.newest_children][::-1]  # type: ignore[attr-defined]  # set by CHILDREN


TASKS = ItemEndpoint(
    name="tasks",
    word="task",
    model=TaskFrame,
    document=TaskSerializer,
    listed=TaskSerializer,
    create=TaskCreateSerializer,
    update=TaskUpdateSerializer,
    creates=partial(agent_items_create, model=TaskFrame),
    related=(CHILDREN,),
    filters={
        "status": by_choice("status", TaskStatus.values, "Only with this status."),
        "session": by_id("session", description="Only of the session with this id."),
        "parent": by_id("parent", description="Only the parts of the task with this id."),
    },
)

SESSION = OpenApiParameter(
    "session", {"type": "string", "format": "uuid"}, description="Of this session; default: the agent's own stack."
)


class PushSerializer(StrictSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS)
    session = ItemId(allow_null=True, required=False, default=None)


class PopSerializer(StrictSerializer):
    result = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, help_text="A short summary of the result.")
    session = ItemId(allow_null=True, required=False, default=None)


class TaskStackSerializer(serializers.Serializer[Any]):
    current = TaskSerializer(allow_null=True, help_text="What the agent is working on now.")
    path = TaskSerializer(many=True, help_text="From the root to the current task.")


class PoppedSerializer(TaskStackSerializer):
    popped = TaskSerializer(help_text="The task that is complete now.")
    notes = NotesField()


def stack_document(agent: Agent, session: Session | None) -> dict[str, Any]:
    """Return the JSON document of a task stack: the current task and the path to it from the root."""
    path = task_documents(task_path(agent=agent, session=session))
    return {"current": path[-1] if path else None, "path": path}


def _session(agent: Agent, id_: UUID | None) -> Session | None:
    session: Session | None = SESSIONS.named(agent, "session", id_)
    return session


class TaskStack(ApiView):
    @extend_schema(
        operation_id="agents_task_stack_read",
        summary="Get task stack of agent",
        parameters=[SESSION],
        responses=TaskStackSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the task that the agent is working on, and the path from its root."""
        query = self.query("session")
        agent = agent_for(self.principal, slug)
        return Response(stack_document(agent, SESSIONS.find_by_parameter(agent, query, "session")))


class TaskStackPush(ApiView):
    @extend_schema(
        operation_id="agents_task_stack_push",
        summary="Push task",
        parameters=[ETAG, LOCATION],
        request=PushSerializer,
        responses={201: TaskSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a task below the current one; the new task becomes current."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        asked = self.validated(PushSerializer)
        session = _session(agent, asked["session"])
        frame = task_push(agent=agent, session=session, goal=asked["goal"], principal=self.principal)
        headers = {"Location": f"/api/v1/agents/{slug}/tasks/{frame.id}", "ETag": etag(frame.version)}
        return Response(task_documents([frame])[0], status.HTTP_201_CREATED, headers=headers)


class TaskStackPop(ApiView):
    @extend_schema(
        operation_id="agents_task_stack_pop",
        summary="Complete current task",
        request=PopSerializer,
        responses=PoppedSerializer,
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Complete the current task with its result; its parent becomes current. 409 if there is no current task."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        asked = self.validated(PopSerializer)
        session = _session(agent, asked["session"])
        popped = task_pop(agent=agent, session=session, result=asked["result"], principal=self.principal)
        return Response({"popped": task_documents([popped])[0], **stack_document(agent, session)})
