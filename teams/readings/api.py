"""REST endpoint that lists who read what is confidential or restricted."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Invalid
from config.http.openapi import PAGE
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView
from teams.models import Reading
from teams.readings.models import ReadingKind
from teams.readings.readable_lines import readable_readings
from teams.sensitivity import LEVEL_NAMES, Sensitivity

LEVELS = {level.word: level for level in (Sensitivity.CONFIDENTIAL, Sensitivity.RESTRICTED)}


class ReadingSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    actor = ActorSerializer()
    reading = serializers.ChoiceField(
        choices=ReadingKind.values, help_text="Whether a thing was opened, seen in a list, or in a downloaded file."
    )
    sensitivity = serializers.ChoiceField(choices=LEVEL_NAMES, help_text="The highest level of the things.")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="The numbers of the things by kind.")
    things = serializers.ListField(child=serializers.UUIDField(), help_text="The ids of the things.")
    agent_id = serializers.UUIDField(allow_null=True, help_text="The agent whose things these are.")
    team_id = serializers.UUIDField(allow_null=True, help_text="The team whose things these are.")
    address = serializers.CharField(help_text="The IP address of the client.")
    reason = serializers.CharField(help_text="Why, where a team demands a reason; else empty.")
    route = serializers.CharField(help_text="The method and the pattern of the address that was read.")


def reading_document(reading: Reading) -> dict[str, Any]:
    """Return a line as the API shows it."""
    return {
        "id": reading.id,
        "created_at": reading.created,
        "actor": actor_document(reading.actor, reading.actor_name),
        "reading": reading.kind,
        "sensitivity": Sensitivity(reading.level).word,
        "counts": reading.counts,
        "things": reading.things,
        "agent_id": reading.agent_id,
        "team_id": reading.team_id,
        "address": reading.address,
        "reason": reading.reason,
        "route": reading.route,
    }


class ReadingList(ApiView):
    @extend_schema(
        operation_id="readings_list",
        summary="List who read what",
        parameters=[
            OpenApiParameter("actor", str, description="The ref of a person or an admin key, as `person:<uuid>`."),
            OpenApiParameter("thing", UUID, description="Only readings of the thing with this id."),
            OpenApiParameter("reading", str, enum=ReadingKind.values, description="Only readings of this kind."),
            OpenApiParameter("sensitivity", str, enum=sorted(LEVELS), description="Only readings at this level."),
            OpenApiParameter("agent_id", UUID, description="Only readings of things of this agent."),
            OpenApiParameter("team_id", UUID, description="Only readings of things of this team and its agents."),
            *PAGE,
        ],
        responses=page_serializer(ReadingSerializer),
    )
    def get(self, request: Request) -> Response:
        """Return readings of confidential and restricted things by people and admin keys, newest first: all for admins,
        else those of the teams that you manage.
        """
        query = self.query("actor", "thing", "reading", "sensitivity", "agent_id", "team_id", "cursor", "limit")
        found = readable_readings(self.principal)
        if "actor" in query:
            found = found.filter(actor=query["actor"])
        if "thing" in query:
            found = found.filter(things__contains=[_id(query, "thing")])
        if "reading" in query:
            found = found.filter(kind=_one_of(query, "reading", ReadingKind.values))
        if "sensitivity" in query:
            found = found.filter(level=LEVELS[_one_of(query, "sensitivity", sorted(LEVELS))])
        if "agent_id" in query:
            found = found.filter(agent_id=_id(query, "agent_id"))
        if "team_id" in query:
            found = found.filter(team_ids__contains=[_id(query, "team_id")])
        return self.page(found, reading_document, query=query)


def _id(query: dict[str, str], name: str) -> UUID:
    """Return the id in a parameter. Raises Invalid."""
    try:
        return UUID(query[name])
    except ValueError:
        raise Invalid(name, "This is no id. Use a UUID.") from None


def _one_of(query: dict[str, str], name: str, known: list[str]) -> str:
    """Return the value of a parameter. Raises Invalid for an unknown one."""
    if query[name] not in known:
        raise Invalid(name, f"Use one of: {', '.join(known)}.")
    return query[name]
