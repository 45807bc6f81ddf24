"""REST endpoints of keys: the keys of an agent, the keys with access to a team, and all keys of the organisation."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for, manages_all_teams
from agents.api.key_serializers import (
    AdminKeyCreateSerializer,
    AgentKeyCreateSerializer,
    CreatedKeySerializer,
    KeySerializer,
    TeamKeySerializer,
)
from agents.key_forms import keys_in_state, keys_of_kind
from agents.key_grants import key_grant, key_in_team, key_withdraw, keys_in_team, reaching_key_ids, teams_by_key
from agents.keys import NOT_ALL_TEAMS, api_key_create, api_key_revoke
from agents.models import Agent, ApiKey
from config.http.cursors import next_page_url, page_of
from config.http.errors import Forbidden, Invalid, NotFound
from config.http.idempotency import RepeatableResponse, idempotent
from config.http.openapi import LOCATION, PAGE
from teams.access import require_admin, team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action, Principal

KINDS, STATES = ("agent", "admin"), ("usable", "expired", "revoked")
FILTERS = [
    OpenApiParameter("kind", {"type": "string", "enum": KINDS}, description="Of agents, or of admins."),
    OpenApiParameter("state", {"type": "string", "enum": STATES}, description="In this state alone."),
]


def key_documents(keys: Sequence[ApiKey]) -> list[dict[str, Any]]:
    """Return the keys as JSON, without the secret part; one query."""
    return list(KeySerializer(keys, many=True, context={"reached": teams_by_key(keys)}).data)


def agent_with_keys(principal: Principal, slug: str) -> Agent:
    """Return the agent whose keys the principal may see and create. Raises NotFound or Forbidden."""
    agent = agent_for(principal, slug, Action.MANAGE)
    if not manages_all_teams(principal, agent):
        raise Forbidden(NOT_ALL_TEAMS)
    return agent


class KeysView(ApiView):
    """A base class that lists, creates and revokes keys of one kind."""

    def page_of_keys(self, keys: "QuerySet[ApiKey]", query: dict[str, str]) -> Response:
        """Return a page of the keys, newest first."""
        found, cursor = page_of(keys.select_related("agent"), query, ("created", "id"))
        following = next_page_url(self.request.path, query, cursor)
        return Response({"results": key_documents(found), "next": following})

    def made(self, key: ApiKey, secret: str) -> Response:
        """Return the response that shows a new key once.

        The key is not stored: a repeated request gets the response without it.
        """
        document = key_documents([key])[0]
        headers = {"Location": f"{self.request.path}/{key.id}", "Cache-Control": "no-store"}
        return RepeatableResponse(
            {**document, "key": secret},
            status.HTTP_201_CREATED,
            headers=headers,
            repeated={**document, "key": None},
        )

    def key_of(self, keys: "QuerySet[ApiKey]", id_: UUID) -> ApiKey:
        """Return the key with this id. Raises NotFound."""
        key = keys.select_related("agent").filter(id=id_).first()
        if key is None:
            raise NotFound(f"The key “{id_}”")
        return key

    def revoked(self, key: ApiKey) -> Response:
        """Revoke the key, which may be revoked already."""
        api_key_revoke(key=key, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class KeyList(KeysView):
    @extend_schema(parameters=[*PAGE, *FILTERS], responses=page_serializer(KeySerializer))
    def get(self, request: Request) -> Response:
        """Return all keys of agents and admins, newest first. For organisation admins and admin keys."""
        query = self.query("cursor", "limit", "kind", "state")
        require_admin(self.principal)
        kind, state = _parse_choice(query, "kind", KINDS), _parse_choice(query, "state", STATES)
        keys = keys_in_state(keys_of_kind(ApiKey.objects.all(), kind), state, timezone.now())
        return self.page_of_keys(keys, query)

    @extend_schema(parameters=[LOCATION], request=AdminKeyCreateSerializer, responses={201: CreatedKeySerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an admin key, which may do everything. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        facts = self.validated(AdminKeyCreateSerializer)
        return self.made(*api_key_create(agent=None, **facts, principal=self.principal))


class KeyDetail(KeysView):
    @extend_schema(responses=KeySerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return a key of an agent or an admin. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        return Response(key_documents([self.key_of(ApiKey.objects.all(), id_)])[0])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Revoke a key. Requests with it are rejected; the key remains in the list."""
        self.query()
        require_admin(self.principal)
        return self.revoked(self.key_of(ApiKey.objects.all(), id_))


class AgentKeyList(KeysView):
    @extend_schema(parameters=PAGE, responses=page_serializer(KeySerializer))
    def get(self, request: Request, slug: str) -> Response:
        """Return the keys of an agent, newest first. For admins of all its teams."""
        query = self.query("cursor", "limit")
        return self.page_of_keys(ApiKey.objects.filter(agent=agent_with_keys(self.principal, slug)), query)

    @extend_schema(parameters=[LOCATION], request=AgentKeyCreateSerializer, responses={201: CreatedKeySerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a key for an agent. The key has access to the teams in which the agent works now."""
        self.query()
        agent = agent_with_keys(self.principal, slug)
        facts = self.validated(AgentKeyCreateSerializer)
        facts["scopes"] = sorted(set(facts["scopes"]))
        return self.made(*api_key_create(agent=agent, **facts, principal=self.principal))


class AgentKeyDetail(KeysView):
    @extend_schema(responses=KeySerializer)
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return a key of an agent."""
        self.query()
        return Response(key_documents([self._key(slug, id_)])[0])

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, id_: UUID) -> Response:
        """Revoke a key of an agent. Requests with it are rejected; the key remains in the list."""
        self.query()
        return self.revoked(self._key(slug, id_))

    def _key(self, slug: str, id_: UUID) -> ApiKey:
        return self.key_of(ApiKey.objects.filter(agent=agent_with_keys(self.principal, slug)), id_)


class TeamKeyList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(TeamKeySerializer))
    def get(self, request: Request, slug: str) -> Response:
        """Return the active keys of a team's agents, and which of them have access to it. For admins of the team."""
        query = self.query("cursor", "limit")
        team = team_for(self.principal, slug, Action.MANAGE)
        reaching = reaching_key_ids(team)
        return self.page(keys_in_team(team), lambda key: _team_key(key, reaching), query=query)


class TeamKeyDetail(ApiView):
    @extend_schema(responses=TeamKeySerializer)
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return a key of an agent in a team, and whether the key has access to the team."""
        self.query()
        team = team_for(self.principal, slug, Action.MANAGE)
        key = key_in_team(team, id_)
        return Response(_team_key(key, reaching_key_ids(team)))

    @extend_schema(request=None, responses=TeamKeySerializer)
    def put(self, request: Request, slug: str, id_: UUID) -> Response:
        """Give a key access to the team. A grant has no versions, so no If-Match is needed."""
        self.query()
        team = team_for(self.principal, slug, Action.MANAGE)
        key = key_in_team(team, id_)
        key_grant(key=key, team=team, principal=self.principal)
        return Response(_team_key(key, {key.id}))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, id_: UUID) -> Response:
        """Remove a key's access to the team."""
        self.query()
        team = team_for(self.principal, slug, Action.MANAGE)
        key_withdraw(key=key_in_team(team, id_), team=team, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team_key(key: ApiKey, reaching: Collection[UUID]) -> dict[str, Any]:
    return dict(TeamKeySerializer(key, context={"reaching": reaching}).data)


def _parse_choice(query: dict[str, str], name: str, known: Sequence[str]) -> str:
    value = query.get(name, "")
    if name in query and value not in known:
        raise Invalid(name, f"Use one of: {', '.join(known)}.", "invalid_choice")
    return value
