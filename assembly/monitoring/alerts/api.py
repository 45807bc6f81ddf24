"""REST endpoints that list, acknowledge and resolve alerts."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.models import Alert, AlertKind
from assembly.monitoring.alerts.services import (
    ALERT_STATES,
    AlertState,
    alert_acknowledge,
    alert_for,
    alert_reopen,
    alert_resolve,
    alert_to_resolve,
    alerts_selected,
)
from config.http.errors import Invalid
from config.http.idempotency import idempotent
from config.http.openapi import PAGE
from teams.access import team_for
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView


class AlertSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=AlertKind.values)
    name = serializers.CharField(help_text="The name of the item for people.")
    resource = serializers.CharField(
        help_text="The ref of the file, rule or recall test, or the key of the section, that it is about."
    )
    version = serializers.CharField(help_text="The version of the item, or another cause. Each has its own alert.")
    reason = serializers.CharField()
    agent = serializers.CharField()
    team = serializers.CharField(allow_null=True)
    profile = serializers.CharField(help_text="Empty for an alert about no single profile, such as one on a conflict.")
    assembly_id = serializers.UUIDField(
        allow_null=True, help_text="The assembly that showed it; null for a recall test."
    )
    opened_at = serializers.DateTimeField()
    occurrences = serializers.IntegerField(help_text="Number of occurrences without a change in between.")
    closed_at = serializers.DateTimeField(allow_null=True)
    closed_by_assembly_id = serializers.UUIDField(allow_null=True, help_text="The first assembly without the problem.")
    acknowledged_at = serializers.DateTimeField(allow_null=True)
    acknowledged_by = ActorSerializer(allow_null=True)
    resolved_at = serializers.DateTimeField(allow_null=True)
    resolved_by = ActorSerializer(allow_null=True)
    created_at = serializers.DateTimeField()


def alert_document(alert: Alert) -> dict[str, Any]:
    """Return an alert as JSON."""
    facts = {
        "id": alert.id,
        "kind": alert.kind,
        "name": alert.name,
        "resource": alert.thing,
        "version": alert.cause,
        "reason": alert.detail["why"],
        "agent": alert.agent_slug,
        "team": alert.team_slug or None,
        "profile": alert.profile_name,
        "assembly_id": alert.context,
        "opened_at": alert.opened,
        "occurrences": alert.times,
        "closed_at": alert.closed,
        "closed_by_assembly_id": alert.closed_in,
        "acknowledged_at": alert.seen,
        "acknowledged_by": actor_document(alert.seen_by_ref, alert.seen_by) if alert.seen else None,
        "resolved_at": alert.settled,
        "resolved_by": actor_document(alert.settled_by_ref, alert.settled_by) if alert.settled else None,
        "created_at": alert.created,
    }
    return dict(AlertSerializer(facts).data)


class AlertList(ApiView):
    @extend_schema(
        parameters=[
            OpenApiParameter("agent", str, description="Only of the agent with this slug."),
            OpenApiParameter("team", str, description="Only of the team with this slug."),
            OpenApiParameter("state", str, enum=ALERT_STATES, description="waiting, unless another one is named."),
            *PAGE,
        ],
        responses=page_serializer(AlertSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return the alerts that you may see, newest first."""
        query = self.query("agent", "team", "state", "cursor", "limit")
        agent = agent_for(self.principal, query["agent"]) if "agent" in query else None
        team = team_for(self.principal, query["team"]) if "team" in query else None
        rows = alerts_selected(
            Alert.objects.visible_to(self.principal),
            state=_state(query.get("state", "waiting")),
            agent_id=agent.id if agent else None,
            team_id=team.id if team else None,
        )
        return self.page(rows, alert_document, query=query)


class AlertDetail(ApiView):
    @extend_schema(responses=AlertSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return an alert."""
        self.query()
        return Response(alert_document(alert_for(self.principal, id_)))


class AlertAcknowledge(ApiView):
    @extend_schema(
        operation_id="alerts_acknowledge", summary="Acknowledge alert", request=None, responses=AlertSerializer
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Acknowledge an alert: other users see that you are working on it."""
        self.query()
        alert = alert_to_resolve(self.principal, id_)
        return Response(alert_document(alert_acknowledge(alert=alert, principal=self.principal)))


class AlertResolve(ApiView):
    @extend_schema(operation_id="alerts_resolve", summary="Resolve alert", request=None, responses=AlertSerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Resolve an alert. It is not reported again until a change causes a new one."""
        self.query()
        alert = alert_to_resolve(self.principal, id_)
        return Response(alert_document(alert_resolve(alert=alert, principal=self.principal)))


class AlertReopen(ApiView):
    @extend_schema(operation_id="alerts_reopen", summary="Reopen alert", request=None, responses=AlertSerializer)
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Reopen a resolved alert."""
        self.query()
        return Response(alert_document(alert_reopen(alert=alert_to_resolve(self.principal, id_))))


def _state(text: str) -> AlertState:
    for state in ALERT_STATES:
        if state == text:
            return state
    raise Invalid("state", f"Use one of: {', '.join(ALERT_STATES)}.")
