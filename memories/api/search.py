"""REST: finding memories by meaning."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.api import StrictSerializer
from config.http.cursors import limit_of
from config.http.fields import VisibleText
from memories.api.memories import Find
from memories.api.serializers import MemorySerializer, SearchSerializer
from memories.directions import direction_of
from memories.search import memories_find
from memories.services import Owner, memories_of
from memories.spaces import SLOTS
from teams.access import Action, team_for
from teams.api.view import ApiView

MAX_FOUND = 50
MAX_QUERY_CHARACTERS = 2_000


class SearchQuerySerializer(StrictSerializer):
    q = VisibleText(max_length=MAX_QUERY_CHARACTERS)
    limit = VisibleText(required=False)


class MemorySearch(ApiView):
    find: Find = staticmethod(team_for)

    @extend_schema(
        parameters=[
            OpenApiParameter("q", {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS}, required=True),
            OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "default": 10}),
        ],
        responses=SearchSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """The memories nearest in meaning, nearest first; superseded and retired ones come after all others."""
        given = self.query("q", "limit")
        owner = self.find(self.principal, slug, Action.READ)
        asked = self.validated(SearchQuerySerializer, given)
        return Response({"results": _found(owner, asked["q"], limit_of(asked.get("limit", ""), 10, MAX_FOUND))})


def _found(owner: Owner, text: str, limit: int) -> list[dict[str, Any]]:
    vector = direction_of(text)
    if vector is None:
        return []
    found = memories_find(owner=owner, vector=vector, similar=limit, recent=0)
    memories = memories_of(owner).defer(*SLOTS).in_bulk([row.id for row in found])
    return [
        {**MemorySerializer(memories[row.id]).data, "similarity": row.similarity}
        for row in found
        if row.similarity is not None and row.id in memories
    ]
