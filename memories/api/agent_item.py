"""These REST views serve agents' items of every kind by one implementation, which an ItemEndpoint configures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, cast
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from config.http.errors import Conflict
from config.http.etags import etag
from config.http.idempotency import idempotent
from config.http.late_reads import may_be_late
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE, ApiSchema
from config.http.serializers import NotesField, StrictSerializer
from memories.api.events import SESSIONS
from memories.api.item_kinds import ItemEndpoint
from memories.lifecycle.listed_texts import listed
from memories.lifecycle.tiers import Tiered
from memories.lifecycle.use_counts import thing_opened
from memories.models import Memory
from memories.models.agent_item import AgentItem
from memories.services import BatchRefused, agent_item_delete
from teams.api.serializers import page_serializer
from teams.api.view import ApiView
from teams.principal import Action
from teams.versioned_text.api import VersionedView

MAX_ITEMS = 1_000


class BatchSerializer(serializers.Serializer[Any]):
    """What a batch did. `ids` are in the order of the items; null stands for one passed over."""

    created = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="Those whose external id was there already.")
    ids = serializers.ListField(child=serializers.UUIDField(allow_null=True))
    notes = NotesField()


@cache  # cached, so that the OpenAPI document has one component per class
def items_serializer(item: type[StrictSerializer]) -> type[StrictSerializer]:
    """Return the serializer of a batch request: `{"items": [...]}`, with 1 to MAX_ITEMS items."""
    name = item.__name__.replace("CreateSerializer", "BatchSerializer")
    items: Any = serializers.ListSerializer(child=item(), min_length=1, max_length=MAX_ITEMS)
    return type(name, (StrictSerializer,), {"items": items})


@dataclass(frozen=True, slots=True)
class Operation:
    """The request, responses and parameters of one HTTP method, with the names of drf-spectacular's `extend_schema`."""

    responses: Any
    request: Any = None
    parameters: list[OpenApiParameter] = field(default_factory=list)


def list_operations(endpoint: ItemEndpoint) -> dict[str, Operation]:
    """Return the operations on the list of items: reading a page, and creating one item."""
    filters = [
        OpenApiParameter(name, filter_.schema, description=filter_.description)
        for name, filter_ in endpoint.filters.items()
    ]
    return {
        "GET": Operation(page_serializer(endpoint.listed), parameters=[*filters, *PAGE]),
        "POST": Operation({201: endpoint.document}, endpoint.create, [ETAG, LOCATION]),
    }


def detail_operations(endpoint: ItemEndpoint) -> dict[str, Operation]:
    """Return the operations on a single item: reading, changing and deleting it."""
    return {
        "GET": Operation(endpoint.document, parameters=[ETAG, IF_NONE_MATCH]),
        "PATCH": Operation(endpoint.document, endpoint.update, [ETAG, IF_MATCH]),
        "DELETE": Operation({204: None}, parameters=[IF_MATCH]),
    }


def batch_operations(endpoint: ItemEndpoint) -> dict[str, Operation]:
    """Return the operation that creates several items at once."""
    return {"POST": Operation({201: BatchSerializer}, items_serializer(endpoint.create))}


class ItemSchema(ApiSchema):
    """The OpenAPI schema of a view is derived from its endpoint. Docstrings of methods may contain {name} and {word} of
    it.
    """

    def __init__(self, operations: Callable[[ItemEndpoint], dict[str, Operation]]) -> None:
        super().__init__()
        self.operations = operations

    @property
    def endpoint(self) -> ItemEndpoint:
        return cast("ItemEndpoint", self.view.endpoint)  # type: ignore[attr-defined]  # DRF knows no view of ours

    @property
    def operation(self) -> Operation:
        return self.operations(self.endpoint)[self.method]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular does itself
        return super().get_description().format(name=self.endpoint.name, word=self.endpoint.word)

    def get_override_parameters(self) -> list[Any]:
        return self.operation.parameters

    def get_request_serializer(self) -> Any:
        return self.operation.request

    def get_response_serializers(self) -> Any:
        return self.operation.responses


class ItemList(ApiView):
    endpoint: ClassVar[ItemEndpoint] = SESSIONS
    schema = ItemSchema(list_operations)

    @may_be_late
    def get(self, request: Request, slug: str) -> Response:
        """Return the agent's {name}, newest first."""
        query = self.query(*self.endpoint.filters, "cursor", "limit")
        things = listed(self.endpoint.filtered_queryset(agent_for(self.principal, slug), query))
        return self.page(things, lambda thing: dict(self.endpoint.listed(thing).data), self.endpoint.order, query=query)

    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a {word} of the agent."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        facts = self.validated(self.endpoint.create)
        created = self.endpoint.creates(agent=agent, facts=[facts], principal=self.principal)
        if not created:
            raise Conflict(
                f"The agent has a {self.endpoint.word} with this external id already. Change that one instead."
            )
        [thing] = created
        headers = {"Location": f"{request.path}/{thing.id}", "ETag": etag(thing.version)}
        return Response(self.endpoint.document(thing).data, status.HTTP_201_CREATED, headers=headers)


class ItemDetail(VersionedView):
    endpoint: ClassVar[ItemEndpoint] = SESSIONS
    schema = ItemSchema(detail_operations)

    def document_of(self, thing: Any) -> dict[str, Any]:
        return dict(self.endpoint.document(thing).data)

    def get(self, request: Request, slug: str, id_: UUID) -> Response:
        """Return the {word}."""
        self.query()
        thing = self.endpoint.find_item(agent_for(self.principal, slug), id_)
        if isinstance(thing, Tiered):
            thing_opened(thing)
        return self.answer_if_newer(thing)

    def patch(self, request: Request, slug: str, id_: UUID) -> Response:
        """Change the given fields of the {word}. A request that changes nothing creates no version."""
        self.query()
        thing = self.endpoint.find_item(agent_for(self.principal, slug, Action.WRITE), id_)
        expected = self.expected(thing)
        changes = self.validated(self.endpoint.update)
        saved = self.endpoint.updates(thing=thing, expected_version=expected, changes=changes, principal=self.principal)
        return self.answer(saved)

    def delete(self, request: Request, slug: str, id_: UUID) -> Response:
        """Delete the {word} and what depends on it. Assemblies that used it keep its text in their record."""
        self.query()
        thing = self.endpoint.find_item(agent_for(self.principal, slug, Action.WRITE), id_)
        self.check_if_match(thing)
        agent_item_delete(thing=thing, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ItemBatch(ApiView):
    endpoint: ClassVar[ItemEndpoint] = SESSIONS
    schema = ItemSchema(batch_operations)

    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create several {name}, all or none. Those whose external id exists already are skipped."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        items = self.validated(items_serializer(self.endpoint.create))["items"]
        try:
            created = self.endpoint.creates(agent=agent, facts=items, principal=self.principal)
        except BatchRefused as flawed:
            raise flawed.among("items") from None
        return batch_response(items, created)


def batch_response(items: Sequence[dict[str, Any]], created: Sequence[AgentItem | Memory]) -> Response:
    """Return the response to a batch, with the ids in the order of the items."""
    ids = ids_in_order(items, created)
    document = {"created": len(created), "skipped": len(items) - len(created), "ids": ids}
    return Response(document, status.HTTP_201_CREATED)


def ids_in_order(facts: Sequence[dict[str, Any]], created: Sequence[AgentItem | Memory]) -> list[UUID | None]:
    """Return the ids of the created rows in the order of the facts, None where a fact was skipped.

    `created` must be in the order of the facts.
    """
    waiting: list[AgentItem | Memory] = list(reversed(created))
    ids: list[UUID | None] = []
    for fact in facts:
        is_next = bool(waiting) and waiting[-1].external_id == fact["external_id"]
        ids.append(waiting.pop().id if is_next else None)
    return ids
