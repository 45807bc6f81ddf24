"""These REST views read, write, search and merge the memories of an agent or a team; `find` looks up the owner."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from config.http.cursors import limit_of
from config.http.errors import Invalid, NotFound
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.late_reads import may_be_late
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE
from config.http.serializers import StrictSerializer, VisibleText
from memories.api.agent_item import BatchSerializer, batch_response, items_serializer
from memories.api.serializers import (
    MemoryCreateSerializer,
    MemoryNewSerializer,
    MemorySerializer,
    MemoryUpdateSerializer,
    MemoryVersionSerializer,
    MergeSerializer,
    SearchSerializer,
)
from memories.embeddings.active_model import SLOTS
from memories.embeddings.vectors import embed_query
from memories.lifecycle.listed_texts import listed
from memories.lifecycle.use_counts import thing_opened
from memories.models import Memory
from memories.search.memory_search import find_memories
from memories.services import (
    MemoryFacts,
    MergeRequest,
    Owner,
    facts_of,
    memories_create,
    memories_merge,
    memories_of,
    memory_create,
    memory_delete,
    memory_supersede,
    memory_update,
)
from memories.services.batch_errors import BatchRefused
from teams.access import team_for
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action, Principal
from teams.versioned_text.api import VersionedView, VersionList

MAX_BATCH_CHARACTERS = 2_000_000
"""The most characters in the texts of a batch, whose embedding takes a second."""

FindOwner = Callable[[Principal, str, Action], Owner]


def memory_for(owner: Owner, id_: UUID) -> Memory:
    """Return the owner's memory with that id. Raises NotFound."""
    memory = memories_of(owner).filter(id=id_).first()
    if memory is None:
        raise NotFound(f"The memory “{id_}”")
    return memory


class MemoryList(ApiView):
    find: FindOwner = staticmethod(team_for)

    @extend_schema(parameters=PAGE, responses=page_serializer(MemorySerializer))
    @may_be_late
    def get(self, request: Request, slug: str) -> Response:
        """Return the memories, newest first."""
        query = self.query("cursor", "limit")
        memories = memories_of(self.find(self.principal, slug, Action.READ)).defer(*SLOTS)
        return self.page(listed(memories), lambda memory: dict(MemorySerializer(memory).data), query=query)

    @extend_schema(parameters=[ETAG, LOCATION], request=MemoryNewSerializer, responses={201: MemorySerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a memory, which may supersede others. An agent's key may write the agent's memories and those of its
        teams.
        """
        self.query()
        owner = self.find(self.principal, slug, Action.WRITE)
        asked = self.validated(MemoryNewSerializer)
        superseded: list[UUID] = asked.pop("supersedes")
        if superseded:
            asked.setdefault("kind", _kind_of(owner, superseded[0]))
            memory = memory_supersede(
                owner=owner, facts=MemoryFacts(**asked), superseded=superseded, principal=self.principal
            )
        else:
            memory = memory_create(owner=owner, facts=MemoryFacts(**asked), principal=self.principal)
        headers = {"Location": f"{request.path}/{memory.id}", "ETag": etag(memory.version)}
        return Response(MemorySerializer(memory).data, status.HTTP_201_CREATED, headers=headers)


def _kind_of(owner: Owner, id_: UUID) -> str:
    """Return the kind of a memory, or any if the owner has none with this id: it cannot be superseded then."""
    return str(memories_of(owner).filter(id=id_).values_list("kind", flat=True).first() or "fact")


class MemoryBatch(ApiView):
    find: FindOwner = staticmethod(team_for)

    @extend_schema(request=items_serializer(MemoryCreateSerializer), responses={201: BatchSerializer})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create several memories, all or none. Those whose external id exists already are skipped."""
        self.query()
        owner = self.find(self.principal, slug, Action.WRITE)
        items = self.validated(items_serializer(MemoryCreateSerializer))["items"]
        characters = sum(len(item["text"]) for item in items)
        if characters > MAX_BATCH_CHARACTERS:
            raise Invalid(
                "items",
                (
                    f"These memories have {characters:,} characters. Send at most {MAX_BATCH_CHARACTERS:,} in "
                    "one request."
                ),
                "max_length",
            )
        facts = [MemoryFacts(**item) for item in items]
        try:
            created = memories_create(owner=owner, facts=facts, principal=self.principal)
        except BatchRefused as flawed:
            raise flawed.among("items") from None
        return batch_response(items, created)


class MemoryDetail(VersionedView):
    find: FindOwner = staticmethod(team_for)
    document = MemorySerializer

    @extend_schema(parameters=[ETAG, IF_NONE_MATCH], responses=MemorySerializer)
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return a memory."""
        self.query()
        memory = memory_for(self.find(self.principal, slug, Action.READ), id_)
        thing_opened(memory)
        return self.answer_if_newer(memory)

    @extend_schema(parameters=[ETAG, IF_MATCH], request=MemoryUpdateSerializer, responses=MemorySerializer)
    def patch(self, request: Request, slug: str, id_: UUID) -> Response:
        """Save a new version of a memory: its text, what supersedes it, whether it is pinned or archived."""
        self.query()
        owner = self.find(self.principal, slug, Action.WRITE)
        memory = memory_for(owner, id_)
        expected = self.expected(memory)
        changes = self.validated(MemoryUpdateSerializer)
        successor = memory.superseded_by
        if "superseded_by" in changes:
            named = changes.pop("superseded_by")
            successor = memory_for(owner, named) if named else None
        because = _requested_retirement(memory, changes)
        saved = memory_update(
            memory=memory,
            expected_version=expected,
            superseded_by=successor,
            pinned=changes.pop("pinned", None),
            retired_because=because,
            note=changes.pop("note"),
            facts=replace(facts_of(memory), **changes),
            principal=self.principal,
        )
        return self.answer(saved)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str, id_: UUID) -> Response:
        """Delete a memory with its versions. Assemblies that used it keep its text in their record."""
        self.query()
        memory = memory_for(self.find(self.principal, slug, Action.WRITE), id_)
        self.check_if_match(memory)
        memory_delete(memory=memory, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _requested_retirement(memory: Memory, changes: dict[str, Any]) -> str | None:
    """Remove `archived` and `archive_reason` from the changes, and return the reason for retirement that they request.

    Returns "" for a restored memory, and None where nothing changes. Raises Invalid.
    """
    retired, reason = changes.pop("archived", None), changes.pop("archive_reason", None)
    if retired is False or (retired is None and reason is None):
        return "" if retired is False else None
    if reason is None and not memory.retired_because:
        raise Invalid("archive_reason", "Give a reason for archiving it.", "required")
    if retired is None and not memory.retired_because:
        raise Invalid("archived", "A reason requires `archived`. Send it as well.", "required")
    return None if reason is None else str(reason)


class MemoryMerge(VersionedView):
    find: FindOwner = staticmethod(team_for)
    document = MemorySerializer

    @extend_schema(parameters=[ETAG], request=MergeSerializer, responses=MemorySerializer)
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Merge memories with the same meaning: one remains and is returned, and supersedes the others."""
        self.query()
        owner = self.find(self.principal, slug, Action.WRITE)
        asked = self.validated(MergeSerializer)
        seen = {UUID(str(one["id"])): one["version"] for one in asked["memories"]}
        merging = MergeRequest(UUID(str(asked["keep"])), seen, asked["text"])
        return self.answer(memories_merge(owner=owner, merging=merging, principal=self.principal))


class MemoryVersionList(VersionList):
    find: FindOwner = staticmethod(team_for)
    document = MemoryVersionSerializer

    @extend_schema(parameters=PAGE, responses=page_serializer(MemoryVersionSerializer))
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return the versions of the memory, newest first."""
        return self.page_of_versions(memory_for(self.find(self.principal, slug, Action.READ), id_))


MAX_FOUND = 50
MAX_QUERY_CHARACTERS = 2_000


class SearchQuerySerializer(StrictSerializer):
    q = VisibleText(max_length=MAX_QUERY_CHARACTERS)
    limit = VisibleText(required=False)


class MemorySearch(ApiView):
    find: FindOwner = staticmethod(team_for)

    @extend_schema(
        parameters=[
            OpenApiParameter("q", {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS}, required=True),
            OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_FOUND, "default": 10}),
        ],
        responses=SearchSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the memories with the highest similarity; superseded and archived ones come after all others."""
        given = self.query("q", "limit")
        owner = self.find(self.principal, slug, Action.READ)
        asked = self.validated(SearchQuerySerializer, given)
        return Response(
            {"results": _search_results(owner, asked["q"], limit_of(asked.get("limit", ""), 10, MAX_FOUND))}
        )


def _search_results(owner: Owner, text: str, limit: int) -> list[dict[str, Any]]:
    vector = embed_query(text)
    if vector is None:
        return []
    found = find_memories(owner=owner, vector=vector, similar=limit, recent=0)
    memories = memories_of(owner).defer(*SLOTS).in_bulk([row.id for row in found])
    return [
        {**MemorySerializer(memories[row.id]).data, "similarity": row.similarity}
        for row in found
        if row.similarity is not None and row.id in memories
    ]
