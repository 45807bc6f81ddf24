"""REST endpoints of agents."""

from collections.abc import Collection
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.api.serializers import AgentCreateSerializer, AgentSerializer, AgentUpdateSerializer
from agents.models import Agent
from agents.services import agent_create, agent_delete, agent_update
from config.http.errors import NotFound
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, LOCATION, PAGE
from teams.access import require_admin
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.models import Team
from teams.principal import Action, Principal
from teams.versioned_text.api import VersionedView


def agent_document(principal: Principal, agent: Agent) -> dict[str, Any]:
    """Return the agent as JSON, with those of its teams that the principal may see."""
    prefetch_related_objects([agent], _visible_teams(principal))
    return dict(AgentSerializer(agent).data)


def _visible_teams(principal: Principal) -> "Prefetch[Any]":
    return Prefetch("teams", Team.objects.visible_to(principal).order_by("slug"))


def find_teams(principal: Principal, slugs: Collection[str]) -> set[Team]:
    """Return the teams with these slugs. Raises NotFound for the first that the principal may not see."""
    found = {team.slug: team for team in Team.objects.visible_to(principal).filter(slug__in=slugs)}
    for slug in slugs:
        if slug not in found:
            raise NotFound(f"The team “{slug}”")
    return set(found.values())


class AgentList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(AgentSerializer))
    def get(self, request: Request) -> Response:
        """Return the agents that you may see, newest first."""
        agents = Agent.objects.visible_to(self.principal).prefetch_related(_visible_teams(self.principal))
        return self.page(agents, lambda agent: dict(AgentSerializer(agent).data))

    @extend_schema(parameters=[ETAG, LOCATION], request=AgentCreateSerializer, responses={201: AgentSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an agent with its three empty files. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        facts = self.validated(AgentCreateSerializer)
        facts["teams"] = sorted(find_teams(self.principal, facts["teams"]), key=lambda team: team.slug)
        agent = agent_create(**facts, principal=self.principal)
        headers = {"Location": f"/api/v1/agents/{agent.slug}", "ETag": etag(agent.version)}
        return Response(agent_document(self.principal, agent), status.HTTP_201_CREATED, headers=headers)


class AgentDetail(VersionedView):
    document = AgentSerializer

    def document_of(self, thing: Agent) -> dict[str, Any]:
        return agent_document(self.principal, thing)

    @extend_schema(parameters=[ETAG], responses=AgentSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return an agent."""
        self.query()
        return self.answer(agent_for(self.principal, slug))

    @extend_schema(parameters=[ETAG, IF_MATCH], request=AgentUpdateSerializer, responses=AgentSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change an agent's name, time zone, context profile or teams.

        To add or remove a team, you must be an admin of that team.
        """
        self.query()
        agent = agent_for(self.principal, slug, Action.MANAGE)
        expected = self.expected(agent)
        changes = self.validated(AgentUpdateSerializer)
        facts = {"name": agent.name, "timezone": agent.timezone, **changes, "teams": self._teams(agent, changes)}
        return self.answer(agent_update(agent=agent, expected_version=expected, **facts, principal=self.principal))

    def _teams(self, agent: Agent, changes: dict[str, Any]) -> list[Team]:
        """Return the agent's teams after the change; teams that the caller cannot see remain."""
        before = set(agent.teams.all())
        if "teams" not in changes:
            return list(before)
        named = find_teams(self.principal, changes["teams"])
        visible = set(Team.objects.visible_to(self.principal).filter(agents=agent))
        return list((before - visible) | named)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete an agent with its files, logs, memories and keys. Its assemblies remain, as part of the audit trail.

        For admins of all teams of the agent. An admin of one of its teams can remove it from that team with `PATCH`.
        """
        self.query()
        agent = agent_for(self.principal, slug, Action.MANAGE)
        self.check_if_match(agent)
        agent_delete(agent=agent, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)
