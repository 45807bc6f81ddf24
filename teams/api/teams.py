"""REST endpoints of teams."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from teams.access import require_admin, team_for
from teams.api.serializers import TeamCreateSerializer, TeamSerializer, TeamUpdateSerializer, page_serializer
from teams.api.view import ApiView
from teams.models import Team
from teams.principal import Action
from teams.services import team_create, team_delete, team_update
from teams.versioned_text.api import VersionedView


class TeamList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(TeamSerializer))
    def get(self, request: Request) -> Response:
        """Return the teams that you may see, newest first."""
        return self.page(Team.objects.visible_to(self.principal), lambda team: dict(TeamSerializer(team).data))

    @extend_schema(parameters=[ETAG, LOCATION], request=TeamCreateSerializer, responses={201: TeamSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a team with its three empty files. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        team = team_create(**self.validated(TeamCreateSerializer), principal=self.principal)
        headers = {"Location": f"/api/v1/teams/{team.slug}", "ETag": etag(team.version)}
        return Response(TeamSerializer(team).data, status.HTTP_201_CREATED, headers=headers)


class TeamDetail(VersionedView):
    document = TeamSerializer

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=TeamSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return a team."""
        self.query()
        return self.answer_if_newer(team_for(self.principal, slug))

    @extend_schema(parameters=[ETAG, IF_MATCH], request=TeamUpdateSerializer, responses=TeamSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change a team's name, or what its agents may do. The slug cannot be changed: programs know the team by it."""
        self.query()
        team = team_for(self.principal, slug, Action.MANAGE)
        expected = self.expected(team)
        changes = {"name": team.name, **self.validated(TeamUpdateSerializer)}
        return self.answer(team_update(team=team, expected_version=expected, **changes, principal=self.principal))

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a team with its files, members and memories. Assemblies remain, as part of the audit trail."""
        self.query()
        team = team_for(self.principal, slug, Action.MANAGE)
        self.check_if_match(team)
        team_delete(team=team, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)
