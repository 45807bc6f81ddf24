"""REST endpoint that compares two recorded contexts."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assembly.access import assembly_for
from assembly.comparison.documents import explained_document
from assembly.comparison.explain import compare_records
from assembly.comparison.serializers import CONTENT, CompareSerializer
from config.http.errors import Invalid
from teams.api.view import ApiView

INCLUDE = OpenApiParameter("include", str, enum=[CONTENT], description="content: the complete texts of both contexts.")


def wants_content(query: dict[str, str]) -> bool:
    """Return whether the query has `?include=content`. Raises Invalid for other values."""
    if query.get("include", CONTENT) != CONTENT:
        raise Invalid("include", f"Use “{CONTENT}”, or leave it out.")
    return "include" in query


class AssemblyCompare(ApiView):
    @extend_schema(
        operation_id="assemblies_compare",
        summary="Compare two assemblies",
        parameters=[
            OpenApiParameter("before", UUID, required=True, description="The id of one assembly."),
            OpenApiParameter("after", UUID, required=True, description="The id of another one."),
            INCLUDE,
        ],
        responses=CompareSerializer,
    )
    def get(self, request: Request) -> Response:
        """Compare two assemblies that you may see. Each difference is explained by what changed."""
        query = self.query("before", "after", "include")
        whole = wants_content(query)
        ids = [_id(query, name) for name in ("before", "after")]
        found = compare_records(*(assembly_for(self.principal, id_) for id_ in ids))
        document = {
            "before_id": ids[0],
            "after_id": ids[1],
            **explained_document(found, with_content=whole),
        }
        return Response(CompareSerializer(document).data)


def _id(query: dict[str, str], name: str) -> UUID:
    try:
        return UUID(query.get(name, ""))
    except ValueError:
        raise Invalid(name, "Use the id of an assembly.") from None
