"""REST: the task stack of a session, or, without one, the agent's own."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent
from config.http.api import StrictSerializer
from config.http.etags import etag
from config.http.fields import ExactText, VisibleText
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, LOCATION
from memories.api.fields import MAX_TEXT_CHARACTERS, ThingId
from memories.api.sessions import SESSIONS
from memories.api.tasks import TaskSerializer
from memories.models import Session
from memories.services import task_path, task_pop, task_push
from teams.access import Action
from teams.api.view import ApiView

SESSION = OpenApiParameter(
    "session", {"type": "string", "format": "uuid"}, description="Of this session; default: the agent's own stack."
)


class PushSerializer(StrictSerializer):
    goal = VisibleText(max_length=MAX_TEXT_CHARACTERS)
    session = ThingId(allow_null=True, required=False, default=None)


class PopSerializer(StrictSerializer):
    result = ExactText(max_length=MAX_TEXT_CHARACTERS, allow_blank=True, help_text="What came of it, in short.")
    session = ThingId(allow_null=True, required=False, default=None)


class TaskStackSerializer(serializers.Serializer[Any]):
    current = TaskSerializer(allow_null=True, help_text="What the agent is working on now.")
    path = TaskSerializer(many=True, help_text="From the root to the current task.")


class PoppedSerializer(TaskStackSerializer):
    popped = TaskSerializer(help_text="The task that is complete now.")


def stack_document(agent: Agent, session: Session | None) -> dict[str, Any]:
    """The stack as it stands."""
    path = [dict(TaskSerializer(frame).data) for frame in task_path(agent=agent, session=session)]
    return {"current": path[-1] if path else None, "path": path}


def _session(agent: Agent, id_: UUID | None) -> Session | None:
    session: Session | None = SESSIONS.named(agent, "session", id_)
    return session


class TaskStack(ApiView):
    @extend_schema(operation_id="agents_task_stack_read", parameters=[SESSION], responses=TaskStackSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The task that the agent is working on, and the path from its root."""
        query = self.query("session")
        agent = agent_for(self.principal, slug)
        return Response(stack_document(agent, SESSIONS.named_in(agent, query, "session")))


class TaskStackPush(ApiView):
    @extend_schema(
        operation_id="agents_task_stack_push",
        parameters=[ETAG, LOCATION],
        request=PushSerializer,
        responses={201: TaskSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """A new task below the current one, which becomes current itself."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        asked = self.validated(PushSerializer)
        session = _session(agent, asked["session"])
        frame = task_push(agent=agent, session=session, goal=asked["goal"], principal=self.principal)
        headers = {"Location": f"/api/v1/agents/{slug}/tasks/{frame.id}", "ETag": etag(frame.version)}
        return Response(TaskSerializer(frame).data, status.HTTP_201_CREATED, headers=headers)


class TaskStackPop(ApiView):
    @extend_schema(operation_id="agents_task_stack_pop", request=PopSerializer, responses=PoppedSerializer)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Complete the current task with its result; the one that it was a part of becomes current. 409 when empty."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        asked = self.validated(PopSerializer)
        session = _session(agent, asked["session"])
        popped = task_pop(agent=agent, session=session, result=asked["result"], principal=self.principal)
        return Response({"popped": dict(TaskSerializer(popped).data), **stack_document(agent, session)})
