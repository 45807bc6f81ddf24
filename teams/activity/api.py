"""REST endpoint that lists the activity log."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Invalid
from config.http.late_reads import may_be_late
from config.http.openapi import PAGE
from teams.activity.models import ActivityAction
from teams.activity.reading import readable_activities
from teams.api.serializers import ActorSerializer, actor_document, page_serializer
from teams.api.view import ApiView
from teams.models import Activity


class ActivitySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    actor = ActorSerializer()
    action = serializers.ChoiceField(choices=ActivityAction.values)
    target = serializers.CharField(allow_blank=True, help_text="The name of what was changed.")
    detail = serializers.DictField(help_text="The new values by name, and under `before` the old ones.")
    address = serializers.CharField(
        allow_null=True,
        allow_blank=True,
        help_text="The IP address of the client; empty for jobs and commands, null where it is unknown.",
    )
    reason = serializers.CharField(allow_blank=True, help_text="Why, where a reason is demanded; else empty.")


def activity_document(activity: Activity) -> dict[str, Any]:
    """Return an entry as the API shows it."""
    return {
        "id": activity.id,
        "created_at": activity.created,
        "actor": actor_document(activity.actor, activity.actor_name),
        "action": activity.action,
        "target": activity.target,
        "detail": activity.detail,
        "address": activity.address,
        "reason": activity.reason,
    }


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
    @may_be_late
    def get(self, request: Request) -> Response:
        """Return administrative acts, newest first: all for admins, else those of the teams that you manage."""
        query = self.query("action", "cursor", "limit")
        found = readable_activities(self.principal)
        if "action" in query:
            if query["action"] not in ActivityAction.values:
                raise Invalid("action", f"Use one of: {', '.join(ActivityAction.values)}.")
            found = found.filter(action=query["action"])
        return self.page(found, activity_document, query=query)
