"""REST endpoints of storage policies: everyone reads the organisation's; its admins, and those of a team, save them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.errors import Invalid, NotFound
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, PAGE
from config.http.serializers import StrictSerializer, VisibleText
from memories.api.jobs import JobSerializer
from memories.lifecycle.kv_policies import PolicyBook, current_version, kv_policy_save, versions_of
from memories.lifecycle.kv_policy import CONTENT_TYPES, InvalidPolicy, KVPolicy, parse_policy
from memories.lifecycle.last_look import LOOKED
from memories.lifecycle.policy_preview import policy_preview
from memories.lifecycle.undoing import lifecycle_undo
from memories.models import LifecycleReport
from teams.access import require_admin, team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.models import Team
from teams.principal import Action
from teams.versioned_text.api import VersionedView

MAX_NOTE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class PolicyState:
    """The policy of a content type that holds for the organisation or a team; version 0: nobody saved one there."""

    content_type: str
    team: Team | None
    version: int
    policy: KVPolicy
    age_factor: float


class PolicySerializer(serializers.Serializer[Any]):
    content_type = serializers.ChoiceField(choices=CONTENT_TYPES)
    age_factor = serializers.FloatField(
        help_text="By what rebalancing multiplies age_threshold_hours. Saving a policy of the content type ends it."
    )
    version = serializers.IntegerField(
        help_text="0: nobody saved one here, so the organisation's or the default holds."
    )
    policy = serializers.JSONField(help_text="The parts pin, compress and evict.")


class PolicyListSerializer(serializers.Serializer[Any]):
    results = PolicySerializer(many=True)


class PolicySaveSerializer(StrictSerializer):
    policy = serializers.JSONField(allow_null=True, help_text="All values of the parts; null: the default again.")
    note = VisibleText(required=False, allow_blank=True, default="", max_length=MAX_NOTE_CHARACTERS)


class PolicyPreviewSerializer(StrictSerializer):
    policy = serializers.JSONField()


class MoveCountsSerializer(serializers.Serializer[Any]):
    compressed = serializers.IntegerField()
    evicted = serializers.IntegerField()


class PreviewSerializer(serializers.Serializer[Any]):
    now = MoveCountsSerializer(help_text="With the policy in force.")
    then = MoveCountsSerializer(help_text="With the policy that was sent.")
    is_estimated = serializers.BooleanField(
        help_text="Whether the numbers are estimated from a part of the things, because there are very many."
    )


def _state(content_type: str, team: Team | None) -> PolicyState:
    if content_type not in CONTENT_TYPES:
        raise NotFound(f"The content type “{content_type}”")
    book = PolicyBook()
    policy, factor = book.policy(content_type, team.id if team else None), book.age_factor(content_type)
    return PolicyState(content_type, team, current_version(content_type, team), policy, factor)


def _document(state: PolicyState) -> dict[str, Any]:
    return {
        "content_type": state.content_type,
        "age_factor": state.age_factor,
        "version": state.version,
        "policy": state.policy.as_json(),
    }


class _PolicyView(VersionedView):
    """The policy of the organisation; of a team where the address names one."""

    document = PolicySerializer

    def document_of(self, thing: PolicyState) -> dict[str, Any]:
        return _document(thing)

    def team(self, slug: str | None, action: Action) -> Team | None:
        """Return the team that the address names. Raises NotFound and Forbidden."""
        if slug is not None:
            return team_for(self.principal, slug, action)
        if action is not Action.READ:
            require_admin(self.principal)
        return None


class PolicyList(_PolicyView):
    @extend_schema(responses=PolicyListSerializer)
    def get(self, request: Request, slug: str | None = None) -> Response:
        """Return the policy that holds for each content type."""
        self.query()
        team = self.team(slug, Action.READ)
        return Response({"results": [_document(_state(name, team)) for name in CONTENT_TYPES]})


class PolicyDetail(_PolicyView):
    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=PolicySerializer)
    def get(self, request: Request, content_type: str, slug: str | None = None) -> Response:
        """Return the policy that holds for the content type."""
        self.query()
        return self.answer_if_newer(_state(content_type, self.team(slug, Action.READ)))

    @extend_schema(
        parameters=[ETAG, IF_MATCH],
        request=PolicySaveSerializer,
        responses=PolicySerializer,
    )
    def put(self, request: Request, content_type: str, slug: str | None = None) -> Response:
        """Save a version of the policy, which holds from the next run on."""
        self.query()
        team = self.team(slug, Action.MANAGE)
        state = _state(content_type, team)
        expected = self.expected(state)
        asked = self.validated(PolicySaveSerializer)
        kv_policy_save(
            content_type=content_type, team=team, expected_version=expected, principal=self.principal, **asked
        )
        return self.answer(_state(content_type, team))


class PolicyPreview(_PolicyView):
    @extend_schema(request=PolicyPreviewSerializer, responses=PreviewSerializer)
    @idempotent
    def post(self, request: Request, content_type: str, slug: str | None = None) -> Response:
        """Return how many things the next run would move. Nothing is saved."""
        self.query()
        team = self.team(slug, Action.MANAGE)
        state = _state(content_type, team)
        try:
            policy = parse_policy(self.validated(PolicyPreviewSerializer)["policy"], state.policy)
        except InvalidPolicy as wrong:
            raise Invalid(f"policy.{wrong.field}", str(wrong)) from wrong
        found = policy_preview(content_type=content_type, team=team, policy=policy, now=timezone.now())
        return Response(PreviewSerializer(found).data)


class PolicyVersionSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    policy = serializers.JSONField(help_text="null: the default again.")
    note = serializers.CharField()
    author = serializers.CharField(source="by_name")
    created_at = serializers.DateTimeField(source="created")


class PolicyVersionList(_PolicyView):
    @extend_schema(parameters=PAGE, responses=page_serializer(PolicyVersionSerializer))
    def get(self, request: Request, content_type: str, slug: str | None = None) -> Response:
        """Return the versions that were saved for the organisation or the team, newest first."""
        query = self.query("cursor", "limit")
        state = _state(content_type, self.team(slug, Action.READ))
        rows = versions_of(content_type, state.team)
        return self.page(rows, lambda row: dict(PolicyVersionSerializer(row).data), query=query, keys=("version",))


class ReportSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    run = serializers.UUIDField()
    step = serializers.CharField()
    started_at = serializers.DateTimeField(source="started")
    changed = serializers.IntegerField()
    things = serializers.ListField(child=serializers.CharField())
    detail = serializers.JSONField()


class ReportList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(ReportSerializer))
    def get(self, request: Request) -> Response:
        """Return the reports of lifecycle runs, newest first. For organisation admins and admin keys."""
        query = self.query("cursor", "limit")
        require_admin(self.principal)
        rows = LifecycleReport.objects.exclude(step=LOOKED)
        return self.page(rows, lambda row: dict(ReportSerializer(row).data), query=query)


class ReportUndo(ApiView):
    @extend_schema(request=None, responses={202: JobSerializer})
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Undo what the report names, in the background: things are hot again, merged memories separate."""
        self.query()
        require_admin(self.principal)
        report = LifecycleReport.objects.filter(id=id_).first()
        if report is None:
            raise NotFound(f"The report “{id_}”")
        return Response(JobSerializer(lifecycle_undo(report=report, principal=self.principal)).data, status=202)
