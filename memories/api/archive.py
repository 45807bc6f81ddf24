"""These REST views export a team, an agent or everything as a zip, and import a zip after showing its changes."""

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.errors import Invalid
from config.http.idempotency import idempotent
from config.http.openapi import LOCATION
from config.http.serializers import ExactText, FastJSONRenderer, StrictJSONParser, StrictSerializer
from memories.archive.digests import ImportState
from memories.archive.sections import scope_of_agent, scope_of_everything, scope_of_team
from memories.archive.services import MAX_FILE_NAME_CHARACTERS, import_begin, import_create, import_for
from memories.archive.zip_file import zip_download
from memories.models import ImportPlan, ImportStatus
from teams.access import team_for
from teams.api.view import ApiView

ZIP = "application/zip"
ZIP_RESPONSES: Any = {(200, ZIP): OpenApiTypes.BINARY}


class ZipRenderer(FastJSONRenderer):
    """A renderer that lets clients request a zip; errors are rendered as JSON."""

    media_type = ZIP
    format = "zip"


class ExportView(ApiView):
    renderer_classes = [FastJSONRenderer, ZipRenderer]


class TeamExport(ExportView):
    @extend_schema(operation_id="teams_export", summary="Export team", responses=ZIP_RESPONSES)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Return a team's files and memories as a zip of Markdown. The same data gives the same bytes."""
        self.query()
        return zip_download(scope_of_team(team_for(self.principal, slug), self.principal))


class AgentExport(ExportView):
    @extend_schema(operation_id="agents_export", summary="Export agent", responses=ZIP_RESPONSES)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """Return an agent's files, daily logs and memories as a zip of Markdown. The same data gives the same bytes."""
        self.query()
        return zip_download(scope_of_agent(agent_for(self.principal, slug), self.principal))


class Export(ExportView):
    @extend_schema(operation_id="export", summary="Export everything", responses=ZIP_RESPONSES)
    def get(self, request: Request) -> HttpResponseBase:
        """Return everything as a zip of Markdown. For organisation admins and admin keys."""
        self.query()
        return zip_download(scope_of_everything(self.principal))


MAX_CHOSEN = 20_000
FILE_MISSING = "Send a zip as application/zip, or as a multipart form with one field “archive”."
NOT_A_BOOLEAN = "Use true or false."


class ZipParser(BaseParser):
    """A parser of request bodies that are zips."""

    media_type = ZIP

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream.read()


class ImportStepSerializer(serializers.Serializer[Any]):
    unit = serializers.CharField(help_text="The team, agent or section of the archive that it belongs to.")
    name = serializers.CharField(help_text="As in the archive.")
    what = serializers.CharField(help_text="file, log, memory, settings, team, agent, profile, rule.")
    state = serializers.ChoiceField(choices=[state.value for state in ImportState if state is not ImportState.SAME])
    version = serializers.IntegerField(help_text="The one that is here; 0: none.")
    size_before = serializers.IntegerField(help_text="Characters.")
    size_after = serializers.IntegerField(help_text="Characters.")
    lines = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        help_text="The first lines that differ: `[sign, line]`.",
    )
    reason = serializers.CharField(help_text="Why it is not possible.")


class NotAppliedSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    reason = serializers.CharField()


class ImportSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    file_name = serializers.CharField()
    status = serializers.ChoiceField(
        choices=ImportStatus.choices, help_text="planning: still being read. shown: nothing is written yet."
    )
    steps = ImportStepSerializer(many=True)
    same = serializers.IntegerField(help_text="Number of unchanged items.")
    skipped = serializers.ListField(
        child=serializers.CharField(), help_text="Names that are no part of an archive; the first 1,000."
    )
    applied = serializers.IntegerField()
    not_applied = NotAppliedSerializer(many=True, help_text="What was to be imported and was not.")
    error = serializers.CharField(help_text="Why it was refused after it was read; empty when it was not.")
    job_id = serializers.UUIDField(allow_null=True, help_text="What does it in the background.")
    created_at = serializers.DateTimeField()


class ApplySerializer(StrictSerializer):
    replace = serializers.ListField(
        child=ExactText(max_length=1_000),
        max_length=MAX_CHOSEN,
        required=False,
        default=list,
        help_text="Names of steps that are `newer` or `both`, to be imported all the same.",
    )


def import_document(plan: ImportPlan) -> dict[str, Any]:
    """Return the JSON document of an import."""
    parts = plan.outcome.values()
    facts = {
        "id": plan.id,
        "file_name": plan.file_name,
        "status": plan.status,
        "steps": (),
        "same": plan.same,
        "error": plan.refusal,
        "skipped": plan.aside,
        "applied": sum(part["stored"] for part in parts),
        "not_applied": [{"name": name, "reason": reason} for part in parts for name, reason in part["left"]],
        "job_id": plan.job_id,
        "created_at": plan.created,
    }
    # Steps are stored as they are shown; serializing thousands of them again would take seconds.
    return {**ImportSerializer(facts).data, "steps": plan.steps}


class ImportNew(ApiView):
    parser_classes = [ZipParser, MultiPartParser]

    @extend_schema(
        operation_id="import_create",
        summary="Import archive",
        parameters=[
            OpenApiParameter("dry_run", bool, description="true: only show what would change. Default: false."),
            OpenApiParameter("file_name", str, description="The change summary of the created versions."),
            LOCATION,
        ],
        request={
            ZIP: OpenApiTypes.BINARY,
            "multipart/form-data": {
                "type": "object",
                "required": ["archive"],
                "properties": {"archive": {"type": "string", "format": "binary"}},
            },
        },
        responses={201: ImportSerializer},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Import a zip; with `dry_run=true`, only return what the import would change. Data that the zip lacks remains.

        A large zip is read in the background: its status is `planning`, later `shown`, or `refused` with the reason.
        """
        query = self.query("dry_run", "file_name")
        dry_run = _flag(query.get("dry_run", "false"))
        archive, name = self._archive()
        named = query.get("file_name") or name
        if len(named) > MAX_FILE_NAME_CHARACTERS:
            raise Invalid("file_name", f"Use at most {MAX_FILE_NAME_CHARACTERS} characters.")
        plan = import_create(archive=archive, file_name=named, principal=self.principal, begin=not dry_run)
        headers = {"Location": f"/api/v1/import/{plan.id}"}
        return Response(import_document(plan), status.HTTP_201_CREATED, headers=headers)

    def _archive(self) -> tuple[bytes, str]:
        """Return the zip that was sent, and its name. Raises Invalid."""
        if isinstance(self.request.data, bytes):
            return self.request.data, "archive.zip"
        files = self.request.FILES.getlist("archive") if self.request.FILES else []
        if len(files) != 1:
            raise Invalid("archive", FILE_MISSING)
        return files[0].read(), files[0].name or "archive.zip"


class ImportDetail(ApiView):
    @extend_schema(operation_id="import_read", summary="Get import", responses=ImportSerializer)
    def get(self, request: Request, id_: UUID) -> Response:
        """Return an import that you started: what it would change, or its result. Imports are stored for a day."""
        self.query()
        return Response(import_document(import_for(self.principal, id_)))


class ImportApply(ApiView):
    parser_classes = [StrictJSONParser]

    @extend_schema(
        operation_id="import_apply",
        summary="Apply import",
        request=ApplySerializer,
        responses={200: ImportSerializer},
    )
    @idempotent
    def post(self, request: Request, id_: UUID) -> Response:
        """Apply the import, except for data that was changed in the meantime. Large imports are applied by a job."""
        self.query()
        plan = import_for(self.principal, id_)
        chosen = self.validated(ApplySerializer)["replace"]
        return Response(import_document(import_begin(plan=plan, chosen=chosen, principal=self.principal)))


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        raise Invalid("dry_run", NOT_A_BOOLEAN)
    return text == "true"
