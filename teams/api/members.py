"""REST endpoints of the members of a team, for admins of the team and of the organisation."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import NotFound
from config.http.openapi import LOCATION, PAGE
from teams.access import team_for
from teams.api.serializers import MemberSerializer, RoleSerializer, page_serializer
from teams.api.view import ApiView
from teams.models import Membership, Team, User
from teams.principal import Action
from teams.services import membership_remove, membership_set, people_to_add


class MemberList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(MemberSerializer))
    def get(self, request: Request, slug: str) -> Response:
        """Return the members, newest first."""
        query = self.query("cursor", "limit")
        members = team_for(self.principal, slug, Action.MANAGE).memberships.select_related("user")
        return self.page(members, lambda member: dict(MemberSerializer(member).data), query=query)


class MemberDetail(ApiView):
    @extend_schema(responses=MemberSerializer)
    def get(self, request: Request, slug: str, username: str) -> Response:
        """Return a member."""
        self.query()
        return Response(MemberSerializer(_member(self._team(slug), username)).data)

    @extend_schema(
        parameters=[LOCATION], request=RoleSerializer, responses={200: MemberSerializer, 201: MemberSerializer}
    )
    def put(self, request: Request, slug: str, username: str) -> Response:
        """Add a person to the team, or change their role. A membership has no versions, so no If-Match is needed.

        Team admins can add people of their own teams; others are not found. A team always has at least one admin.
        """
        self.query()
        team = self._team(slug)
        role = self.validated(RoleSerializer)["role"]
        known = _members(team, username).first()
        user = known.user if known else self._person_to_add(username)
        document = MemberSerializer(membership_set(team=team, user=user, role=role, principal=self.principal)).data
        if known is None:
            return Response(document, status.HTTP_201_CREATED, headers={"Location": request.path})
        return Response(document)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, username: str) -> Response:
        """Remove a person from the team."""
        self.query()
        membership_remove(team=(team := self._team(slug)), user=_member(team, username).user, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _team(self, slug: str) -> Team:
        return team_for(self.principal, slug, Action.MANAGE)

    def _person_to_add(self, username: str) -> User:
        found = None if "\x00" in username else people_to_add(self.principal).filter(username=username).first()
        if found is None:
            raise NotFound(f"The person “{username}”")
        return found


def _members(team: Team, username: str) -> QuerySet[Membership]:
    named = team.memberships.select_related("user")
    return named.none() if "\x00" in username else named.filter(user__username=username)


def _member(team: Team, username: str) -> Membership:
    member = _members(team, username).first()
    if member is None:
        raise NotFound(f"The person “{username}”")
    return member
