"""REST endpoints of the limits and the usage of keys, people, agents and teams."""

from collections.abc import Callable
from typing import Any, get_args

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.quotas.access import Subject, SubjectKind, own_subjects, require_limit_setter, team_subject
from agents.quotas.services import Quota, limits_set, quotas_of
from config.http.serializers import StrictSerializer
from teams.api.view import ApiView

LARGEST = 10**15


class LimitsSerializer(StrictSerializer):
    """Limits by name: 0 is none, null is not set."""

    requests_under_way = serializers.IntegerField(min_value=0, max_value=LARGEST, allow_null=True)
    requests_per_minute = serializers.IntegerField(min_value=0, max_value=LARGEST, allow_null=True)
    text_bytes_per_day = serializers.IntegerField(min_value=0, max_value=LARGEST, allow_null=True)
    record_bytes_per_day = serializers.IntegerField(min_value=0, max_value=LARGEST, allow_null=True)


class DailyUseSerializer(serializers.Serializer[Any]):
    """The usage of a day in UTC, which may be a second or two behind."""

    day = serializers.DateField()
    requests = serializers.IntegerField(help_text="Let in.")
    refused = serializers.IntegerField(help_text="Answered 429.")
    text_bytes = serializers.IntegerField()
    record_bytes = serializers.IntegerField()


class QuotaSerializer(serializers.Serializer[Any]):
    """The limits and the usage of a key, person, agent or team."""

    kind = serializers.ChoiceField(choices=get_args(SubjectKind))
    id = serializers.UUIDField()
    name = serializers.CharField()
    limits = LimitsSerializer(help_text="Those that hold.")
    allowed = LimitsSerializer(
        help_text="The limits that the organisation allows: its own settings, else the defaults."
    )
    set_by_organisation = LimitsSerializer()
    set_by_team = LimitsSerializer()
    days = DailyUseSerializer(many=True, help_text="The last 30 days, today last.")


class OwnQuotasSerializer(serializers.Serializer[Any]):
    """The limits of the caller, and of the agent of its key."""

    results = QuotaSerializer(many=True)


class OwnLimits(ApiView):
    @extend_schema(responses=OwnQuotasSerializer)
    def get(self, request: Request) -> Response:
        """Return your own limits and usage, and those of the agent that your key belongs to."""
        self.query()
        return Response({"results": [quota_document(quota) for quota in quotas_of(own_subjects(self.principal))]})


class LimitsDetail(ApiView):
    find: Callable[..., Subject] = staticmethod(team_subject)

    @extend_schema(responses=QuotaSerializer)
    def get(self, request: Request, **where: Any) -> Response:
        """Return limits, and the usage of the last 30 days. For users who may set them; users may read their own."""
        self.query()
        return Response(quota_document(quotas_of([self.find(self.principal, **where)])[0]))

    @extend_schema(request=LimitsSerializer, responses=QuotaSerializer)
    def put(self, request: Request, **where: Any) -> Response:
        """Set all four limits. Organisation admins set them for the organisation; team admins for the team, no higher
        than the organisation allows. Limits take effect within two seconds."""
        self.query()
        subject = self.find(self.principal, **where)
        require_limit_setter(self.principal, subject)
        limits = self.validated(LimitsSerializer)
        return Response(quota_document(limits_set(subject=subject, limits=limits, principal=self.principal)))


def quota_document(quota: Quota) -> dict[str, Any]:
    """Return the quota as JSON."""
    facts = {
        "kind": quota.subject.kind,
        "id": quota.subject.id,
        "name": quota.subject.name,
        "limits": quota.effective._asdict(),
        "allowed": quota.allowed._asdict(),
        "set_by_organisation": quota.set_by_organisation,
        "set_by_team": quota.set_by_team,
        "days": quota.days,
    }
    return dict(QuotaSerializer(facts).data)
