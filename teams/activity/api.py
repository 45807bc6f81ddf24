"""REST endpoint that lists the activity log."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Invalid
from config.http.openapi import PAGE
from teams.activity.models import ActivityAction
from teams.activity.reading import activity_document, readable_activities
from teams.api.serializers import page_serializer
from teams.api.view import ApiView


class ActorSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    name = serializers.CharField(allow_blank=True)


class ActivitySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    actor = ActorSerializer()
    action = serializers.ChoiceField(choices=ActivityAction.values)
    target = serializers.CharField(allow_blank=True, help_text="The name of what was changed.")
    detail = serializers.DictField(help_text="The new values by name, and under `before` the old ones.")


class ActivityList(ApiView):
    @extend_schema(
        operation_id="activities_list",
        summary="List activity log",
        parameters=[
            OpenApiParameter("action", str, enum=ActivityAction.values, description="Only acts of this kind."),
            *PAGE,
        ],
        responses=page_serializer(ActivitySerializer),
    )
    def get(self, request: Request) -> Response:
        """Return administrative acts, newest first: all for admins, else those of the teams that you manage."""
        query = self.query("action", "cursor", "limit")
        found = readable_activities(self.principal)
        if "action" in query:
            if query["action"] not in ActivityAction.values:
                raise Invalid("action", f"Use one of: {', '.join(ActivityAction.values)}.")
            found = found.filter(action=query["action"])
        return self.page(found, activity_document, query=query)
