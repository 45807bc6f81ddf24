"""This module holds the REST endpoint of documents, and the view of a document's chunks."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.openapi import PAGE
from config.http.serializers import ExactText, Flag, Line
from memories.api.fields import external_id_field
from memories.api.filters import by_flag, by_start
from memories.api.item_kinds import AgentItemSerializer, ItemEndpoint
from memories.embeddings.active_model import SLOTS
from memories.models import Document
from memories.services.document import document_update, documents_create
from teams.api.serializers import LevelledSerializer, page_serializer
from teams.api.view import ApiView

MAX_PATH_CHARACTERS = 500
MAX_CONTENT_CHARACTERS = 1_000_000


class DocumentUpdateSerializer(LevelledSerializer):
    path = Line(max_length=MAX_PATH_CHARACTERS, required=False)
    language = Line(max_length=40, allow_blank=True, required=False, help_text="python, markdown, …")
    content = ExactText(max_length=MAX_CONTENT_CHARACTERS, allow_blank=True, required=False)
    is_open = Flag(required=False, help_text="Whether the agent has it open in its editor now.")


class DocumentCreateSerializer(DocumentUpdateSerializer):
    path = Line(max_length=MAX_PATH_CHARACTERS, help_text="Once per agent.")
    external_id = external_id_field()


class DocumentSummarySerializer(AgentItemSerializer):
    """A document without its content."""

    path = serializers.CharField()
    language = serializers.CharField()
    is_open = serializers.BooleanField()
    split_version = serializers.IntegerField(help_text="The version that its chunks are of; 0: it has none yet.")


class DocumentSerializer(DocumentSummarySerializer):
    content = serializers.CharField()


class ChunkSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(help_text="From 0.")
    line = serializers.IntegerField(help_text="That it begins on.")
    start = serializers.IntegerField(help_text="In characters of the content.")
    end = serializers.IntegerField()
    text = serializers.CharField()


DOCUMENTS = ItemEndpoint(
    name="documents",
    word="document",
    model=Document,
    document=DocumentSerializer,
    listed=DocumentSummarySerializer,
    create=DocumentCreateSerializer,
    update=DocumentUpdateSerializer,
    creates=documents_create,
    updates=document_update,
    filters={
        "path": by_start("path", "Only below this path: those whose path begins like that."),
        "open": by_flag("is_open", "Only those that are open in the agent's editor, or those that are not."),
    },
    omitted_fields=("content",),
)


class ChunkList(ApiView):
    @extend_schema(parameters=PAGE, responses=page_serializer(ChunkSerializer))
    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return the chunks of the document in order, as search finds them; they are those of its `split_version`."""
        query = self.query("cursor", "limit")
        document: Document = DOCUMENTS.find_item(agent_for(self.principal, slug), id_)
        chunks = document.chunks.defer(*SLOTS)
        return self.page(
            chunks, lambda chunk: dict(ChunkSerializer(chunk).data), ("position",), query=query, ascending=True
        )
