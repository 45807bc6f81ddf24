"""These REST endpoints answer MemoryRequest.v0 and publish the schemas of the contract."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.contract.schemas import SCHEMAS
from assembly.contract.serializers import AssembledContextSerializer, MemoryRequestSerializer
from assembly.contract.services import memory_assemble
from assembly.contract.validation import require_memory_request
from config.http.errors import NotFound
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION
from teams.api.view import ApiView

SCHEMA_MEDIA_TYPE = "application/schema+json"
SCHEMA_SECONDS = 86_400
"""Seconds for which a schema may be cached: a published version hardly ever changes."""


class MemoryAssemble(ApiView):
    @extend_schema(
        parameters=[LOCATION],
        operation_id="memory_assemble",
        summary="Assemble memory",
        request=MemoryRequestSerializer,
        responses={201: AssembledContextSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Assemble memory from its four scopes within the budgets, each item as detailed as there is room for. The same
        request_id with the same body gets the same answer for 24 hours, with the header Idempotency-Replayed.
        """
        self.query()
        answer = memory_assemble(memory_request=require_memory_request(request.data), principal=self.principal)
        headers = {"Location": f"/api/v1/assemblies/{answer.assembly}"}
        if answer.repeated:
            headers["Idempotency-Replayed"] = "true"
        return Response(answer.document, status.HTTP_201_CREATED, headers=headers)


class PublishedSchemaDetail(ApiView):
    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="schemas_read",
        summary="Get JSON Schema",
        parameters=[OpenApiParameter("name", {"type": "string", "enum": list(SCHEMAS)}, OpenApiParameter.PATH)],
        responses={(200, SCHEMA_MEDIA_TYPE): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, name: str) -> HttpResponse:
        """Return a published JSON Schema (2020-12). It needs no key and may be cached for a day."""
        self.query()
        schema = SCHEMAS.get(name)
        if schema is None:
            raise NotFound(f"The schema “{name[:100]}”")
        headers = {"ETag": schema.etag, "Cache-Control": f"public, max-age={SCHEMA_SECONDS}"}
        if schema.etag in request.headers.get("If-None-Match", ""):
            return HttpResponse(status=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return HttpResponse(schema.content, content_type=SCHEMA_MEDIA_TYPE, headers=headers)
