"""REST endpoints of external sources: organisation admins register and test them; everyone reads their names and
labels.
"""

from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.engine.codes import SourceCode
from assembly.models import ExternalSource
from assembly.models.external_source import (
    DEFAULT_LIMIT,
    DEFAULT_TIMEOUT_MS,
    MAX_LABEL_CHARACTERS,
    MAX_LIMIT,
    MAX_NAME_CHARACTERS,
    MAX_TIMEOUT_MS,
    MAX_URL_CHARACTERS,
    MIN_TIMEOUT_MS,
    validate_name,
)
from assembly.sources.external.questions import ExternalAnswer
from assembly.sources.external.services import (
    MAX_QUERY_CHARACTERS,
    ExternalSourceConfig,
    external_source_ask,
    external_source_create,
    external_source_delete,
    external_source_for,
    external_source_update,
    find_external_source,
)
from config.http.encryption import valid_secret
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from config.http.serializers import ExactText, Flag, Line, StrictSerializer
from memories.api.fields import Count
from teams.access import require_admin
from teams.api.serializers import ActorSerializer, LevelField, actor_document, page_serializer
from teams.api.view import ApiView
from teams.principal import Principal
from teams.versioned_text.api import VersionedView

URL = "https://, or http:// in networks that EXTERNAL_ALLOWED_NETWORKS names."
TIMEOUT = "Milliseconds for one request."
SENSITIVITY = "Of all its results. It is not queried for those without the clearance. Default: internal."
FOR_ADMINS = "null for all but admins of the organisation."


class SecretField(ExactText):
    """A secret that can be written but never read."""

    def __init__(self, **options: Any) -> None:
        help_text = "Sent as a bearer token, never shown again. Empty: none."
        super().__init__(
            **{"allow_blank": True, "validators": [valid_secret], "write_only": True, "help_text": help_text, **options}
        )


class ExternalSourceCreateSerializer(StrictSerializer):
    name = ExactText(max_length=MAX_NAME_CHARACTERS, validators=[validate_name], help_text="The key of its sections.")
    label = Line(max_length=MAX_LABEL_CHARACTERS)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, help_text=URL)
    secret = SecretField(required=False, default="")
    limit = Count(min_value=1, max_value=MAX_LIMIT, default=DEFAULT_LIMIT, help_text="Most results of one answer.")
    timeout_ms = Count(
        min_value=MIN_TIMEOUT_MS, max_value=MAX_TIMEOUT_MS, default=DEFAULT_TIMEOUT_MS, help_text=TIMEOUT
    )
    enabled = Flag(default=True)
    sensitivity = LevelField(required=False, help_text=SENSITIVITY)


class ExternalSourceUpdateSerializer(StrictSerializer):
    label = Line(max_length=MAX_LABEL_CHARACTERS, required=False)  # type: ignore[assignment]
    url = ExactText(max_length=MAX_URL_CHARACTERS, required=False, help_text=URL)
    secret = SecretField(required=False)
    limit = Count(min_value=1, max_value=MAX_LIMIT, required=False, help_text="Most results of one answer.")
    timeout_ms = Count(min_value=MIN_TIMEOUT_MS, max_value=MAX_TIMEOUT_MS, required=False, help_text=TIMEOUT)
    enabled = Flag(required=False)
    sensitivity = LevelField(required=False, help_text=SENSITIVITY)


class ExternalSourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    enabled = serializers.BooleanField()
    sensitivity = LevelField(help_text=SENSITIVITY)
    url = serializers.CharField(allow_null=True, help_text=FOR_ADMINS)
    has_secret = serializers.BooleanField(allow_null=True, help_text=FOR_ADMINS)
    limit = serializers.IntegerField(allow_null=True, help_text=FOR_ADMINS)
    timeout_ms = serializers.IntegerField(allow_null=True, help_text=FOR_ADMINS)
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    updated_by = ActorSerializer()


class QuerySerializer(StrictSerializer):
    query = ExactText(max_length=MAX_QUERY_CHARACTERS, allow_blank=True)


class ExternalResultSerializer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    text = serializers.CharField()
    kind = serializers.CharField()
    score = serializers.FloatField()
    occurred_at = serializers.DateTimeField(allow_null=True)
    labels = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    sensitivity = LevelField(help_text="The higher of the source's and the result's own.")


class ExternalAnswerSerializer(serializers.Serializer[Any]):
    results = ExternalResultSerializer(many=True)
    skipped = serializers.IntegerField(help_text="Results that could not be used.")
    ms = serializers.IntegerField(help_text="Milliseconds until the answer, or until it was given up.")
    code = serializers.ChoiceField(choices=[code.value for code in SourceCode], allow_null=True)
    error = serializers.CharField(help_text="The error; empty if it answered.")


def external_source_document(principal: Principal, row: ExternalSource) -> dict[str, Any]:
    """Return an external source as JSON, with the fields that the principal may see."""
    facts = {
        "name": row.name,
        "label": row.label,
        "enabled": row.enabled,
        "sensitivity": row.sensitivity,
        "url": row.url,
        "has_secret": bool(row.sealed_secret),
        "limit": row.limit,
        "timeout_ms": row.timeout_ms,
        "version": row.version,
        "created_at": row.created,
        "updated_at": row.updated_at,
        "updated_by": actor_document(row.editor_ref, row.editor_name),
    }
    if not principal.is_admin:
        facts |= dict.fromkeys(("url", "has_secret", "limit", "timeout_ms"))
    return dict(ExternalSourceSerializer(facts).data)


def answer_document(told: ExternalAnswer) -> dict[str, Any]:
    """Return the result of a query as JSON."""
    results = [
        {
            "ref": candidate.ref,
            "text": candidate.text,
            "kind": candidate.kind,
            "score": candidate.score,
            "occurred_at": candidate.occurred_at,
            "labels": {name: list(values) for name, values in candidate.labels.items()},
            "sensitivity": candidate.sensitivity,
        }
        for candidate in told.candidates
    ]
    facts = {"results": results, "skipped": told.left_out, "ms": told.ms, "code": told.code, "error": told.fault}
    return dict(ExternalAnswerSerializer(facts).data)


class ExternalSourceList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(ExternalSourceSerializer))
    def get(self, request: Request) -> Response:
        """Return all external sources, newest first."""
        return self.page(ExternalSource.objects.all(), lambda row: external_source_document(self.principal, row))

    @extend_schema(
        parameters=[ETAG, LOCATION], request=ExternalSourceCreateSerializer, responses={201: ExternalSourceSerializer}
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an external source. For organisation admins and admin keys."""
        self.query()
        require_admin(self.principal)
        given = self.validated(ExternalSourceCreateSerializer)
        name, secret = given.pop("name"), given.pop("secret")
        row = external_source_create(
            name=name, facts=ExternalSourceConfig(**given), secret=secret, principal=self.principal
        )
        headers = {"Location": f"/api/v1/external-sources/{row.name}", "ETag": etag(row.version)}
        return Response(external_source_document(self.principal, row), status.HTTP_201_CREATED, headers=headers)


class ExternalSourceDetail(VersionedView):
    document = ExternalSourceSerializer

    def document_of(self, thing: ExternalSource) -> dict[str, Any]:
        return external_source_document(self.principal, thing)

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=ExternalSourceSerializer)
    def get(self, request: Request, name: str) -> Response:
        """Return an external source, without its secret."""
        self.query()
        return self.answer_if_newer(find_external_source(name))

    @extend_schema(
        parameters=[ETAG, IF_MATCH], request=ExternalSourceUpdateSerializer, responses=ExternalSourceSerializer
    )
    def patch(self, request: Request, name: str) -> Response:
        """Change the given fields, also to enable or disable the source. An empty secret deletes the stored one."""
        self.query()
        source = external_source_for(self.principal, name)
        expected = self.expected(source)
        given = self.validated(ExternalSourceUpdateSerializer)
        secret = given.pop("secret", None)
        facts = replace(ExternalSourceConfig.of(source), **given)
        return self.answer(
            external_source_update(
                source=source, facts=facts, secret=secret, expected_version=expected, principal=self.principal
            )
        )

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        """Delete an external source. Contexts with its results remain."""
        self.query()
        source = external_source_for(self.principal, name)
        self.check_if_match(source)
        external_source_delete(source=source, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExternalSourceQuery(ApiView):
    @extend_schema(
        operation_id="external_sources_query",
        summary="Query external source",
        request=QuerySerializer,
        responses=ExternalAnswerSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        """Query the source now and return its results. Nothing is stored; 200 even if the endpoint fails."""
        self.query()
        source = external_source_for(self.principal, name)
        query = self.validated(QuerySerializer)["query"]
        return Response(answer_document(external_source_ask(source=source, query=query)))
