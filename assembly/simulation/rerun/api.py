"""REST endpoint that runs a recorded request again today."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.comparison.api import INCLUDE, wants_content
from assembly.comparison.documents import explained_document
from assembly.comparison.serializers import CauseSerializer, ExplainedChangeSerializer, SideBySideSerializer
from assembly.simulation.rerun.services import rerun_today
from teams.api.view import ApiView


class RerunSerializer(SideBySideSerializer):
    assembly_id = serializers.UUIDField()
    causes = CauseSerializer(many=True, help_text="The changes since then, each item once.")
    changes = ExplainedChangeSerializer(many=True)
    session_deleted = serializers.BooleanField(help_text="The session of the request was deleted.")


class AssemblyRerun(ApiView):
    @extend_schema(
        operation_id="assemblies_rerun",
        summary="Run request of assembly again today",
        parameters=[INCLUDE],
        responses=RerunSerializer,
    )
    def get(self, request: Request, id_: UUID) -> Response:
        """Run the same request today and compare the result with the recorded one. Each difference is explained.

        Files, memories, profile and rules are those of today. Nothing is recorded, and no language model is called.
        """
        whole = wants_content(self.query("include"))
        found = rerun_today(assembly_for(self.principal, id_))
        document = {
            "assembly_id": found.assembly.id,
            "session_deleted": found.session_gone,
            **explained_document(found, with_content=whole),
        }
        return Response(RerunSerializer(document).data)
