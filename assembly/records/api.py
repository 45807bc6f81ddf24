"""These REST endpoints set retention rules, flag one record to protect it, and download bundles of records."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.models import AssemblyFlag, RetentionPolicy
from assembly.models.retention import MAX_DAYS, MAX_FLAG_NOTE_CHARACTERS
from assembly.records.bundle_writer import RecordBundle, record_bundle_download, zip_bundle
from assembly.records.retention_policies import (
    EffectiveRetention,
    RetentionRule,
    assembly_flag,
    assembly_unflag,
    effective_retention,
    retention_clear,
    retention_set,
)
from config.http.errors import NotFound
from config.http.etags import PreconditionFailed, is_create_only
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, ONLY_CREATE
from config.http.serializers import ExactText, FastJSONRenderer, Flag, StrictSerializer
from memories.api.archive import ZIP, ZipRenderer
from memories.api.fields import Count
from teams.access import require_admin, team_for
from teams.api.serializers import ActorField, ActorSerializer, actor_document
from teams.api.view import ApiView
from teams.models import Team
from teams.principal import Action
from teams.versioned_text.api import VersionedView

DAYS = "Number of days; null: indefinitely."


class RetentionUpdateSerializer(StrictSerializer):
    days = Count(allow_null=True, min_value=1, max_value=MAX_DAYS, help_text=DAYS)
    keep_flagged = Flag(default=True, help_text="Whether flagged contexts are retained.")


class RetentionSerializer(serializers.Serializer[object]):
    days = serializers.IntegerField(allow_null=True, help_text=DAYS)
    keep_flagged = serializers.BooleanField()
    inherited = serializers.BooleanField(
        help_text="Whether it was not set here, so that the default of the organisation applies."
    )
    version = serializers.IntegerField(help_text="0 where nothing was said here.")
    updated_at = serializers.DateTimeField(allow_null=True)
    updated_by = ActorSerializer(allow_null=True)


class FlagUpdateSerializer(StrictSerializer):
    note = ExactText(
        default="", allow_blank=True, max_length=MAX_FLAG_NOTE_CHARACTERS, help_text="The comment of the flag."
    )


class FlagSerializer(serializers.Serializer[object]):
    note = serializers.CharField()
    created_by = ActorField("by")
    created_at = serializers.DateTimeField(source="created")


class RetentionView(VersionedView):
    """For the organisation (no slug), or for a team."""

    document = RetentionSerializer

    def document_of(self, thing: EffectiveRetention | RetentionPolicy) -> dict[str, Any]:
        held = thing if isinstance(thing, EffectiveRetention) else effective_retention(thing.team)
        policy = held.policy
        facts = {
            "days": held.keeping.days,
            "keep_flagged": held.keeping.keep_flagged,
            "inherited": policy is None,
            "version": held.version,
            "updated_at": policy.updated_at if policy else None,
            "updated_by": actor_document(policy.editor_ref, policy.editor_name) if policy else None,
        }
        return dict(RetentionSerializer(facts).data)

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=RetentionSerializer)
    def get(self, request: Request, slug: str = "") -> Response:
        """Return for how long contexts are retained."""
        self.query()
        return self.answer_if_newer(effective_retention(team_for(self.principal, slug) if slug else None))

    @extend_schema(
        parameters=[ETAG, IF_MATCH, ONLY_CREATE], request=RetentionUpdateSerializer, responses=RetentionSerializer
    )
    def put(self, request: Request, slug: str = "") -> Response:
        """Set for how long contexts are retained. Older ones are deleted permanently within an hour."""
        self.query()
        team = self._to_change(slug)
        held = effective_retention(team)
        if is_create_only(request) and held.policy:
            raise PreconditionFailed("Something was said here already. Read it and send its ETag as If-Match.")
        expected = 0 if is_create_only(request) else self.expected(held)
        keeping = RetentionRule(**self.validated(RetentionUpdateSerializer))
        retention_set(team=team, keeping=keeping, expected_version=expected, principal=self.principal)
        return self.answer(effective_retention(team))

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str = "") -> Response:
        """Delete the setting: the default of the organisation applies, or contexts are retained indefinitely."""
        self.query()
        team = self._to_change(slug)
        held = effective_retention(team)
        self.check_if_match(held)
        retention_clear(team=team, expected_version=held.version, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _to_change(self, slug: str) -> Team | None:
        if slug:
            return team_for(self.principal, slug, Action.MANAGE)
        require_admin(self.principal)
        return None


def flag_document(flag: AssemblyFlag) -> dict[str, Any]:
    """Return a flag on an assembly as JSON values."""
    return dict(FlagSerializer(flag).data)


class AssemblyFlagView(ApiView):
    @extend_schema(operation_id="assemblies_flag_read", summary="Get flag of assembly", responses=FlagSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return who flagged the assembly and why; 404 if it is not flagged."""
        self.query()
        flag = AssemblyFlag.objects.filter(assembly=assembly_for(self.principal, id_)).first()
        if flag is None:
            raise NotFound("A flag on this context")
        return Response(flag_document(flag))

    @extend_schema(
        operation_id="assemblies_flag",
        summary="Flag assembly",
        request=FlagUpdateSerializer,
        responses=FlagSerializer,
    )
    def put(self, request: Request, id_: UUID) -> Response:
        """Flag the assembly, which exempts it from retention. An existing flag is not changed."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        note = self.validated(FlagUpdateSerializer)["note"]
        return Response(flag_document(assembly_flag(assembly=assembly, note=note, principal=self.principal)))

    @extend_schema(operation_id="assemblies_unflag", summary="Remove flag of assembly", responses={204: None})
    def delete(self, request: Request, id_: UUID) -> Response:
        """Remove the flag, so that retention applies to the assembly."""
        self.query()
        assembly_unflag(assembly=assembly_for(self.principal, id_), principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


BUNDLE: Any = {(200, ZIP): OpenApiTypes.BINARY}


class AssemblyBundle(ApiView):
    renderer_classes = [FastJSONRenderer, ZipRenderer]

    @extend_schema(operation_id="assemblies_bundle", summary="Download audit bundle of assembly", responses=BUNDLE)
    def get(self, request: Request, id_: UUID) -> HttpResponse:
        """Return everything that a replay needs, with the proof of its seal, as a zip for `manage.py replay_bundle`."""
        self.query()
        assembly = assembly_for(self.principal, id_)
        record_bundle_download(assembly, self.principal)
        headers = {"Content-Disposition": f'attachment; filename="{assembly.id}.zip"', "Cache-Control": "no-store"}
        return HttpResponse(zip_bundle(RecordBundle([assembly.id])), content_type=ZIP, headers=headers)
