"""The OpenAPI document of the things that an agent keeps: the same operations for every noun."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from config.http.api import StrictSerializer
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, PAGE, ApiSchema
from memories.api.noun import Noun
from teams.api.serializers import page_serializer

MAX_ITEMS = 1_000


class BatchSerializer(serializers.Serializer[Any]):
    """What a batch did. `ids` are in the order of the items; null stands for one passed over."""

    created = serializers.IntegerField()
    passed_over = serializers.IntegerField(help_text="Those whose external id was there already.")
    ids = serializers.ListField(child=serializers.UUIDField(allow_null=True))


@cache  # the same class each time, so that the document has one component for it
def items_serializer(item: type[StrictSerializer]) -> type[StrictSerializer]:
    """`{items}`: what a batch takes."""
    name = item.__name__.replace("CreateSerializer", "BatchSerializer")
    items: Any = serializers.ListSerializer(child=item(), min_length=1, max_length=MAX_ITEMS)
    return type(name, (StrictSerializer,), {"items": items})


@dataclass(frozen=True, slots=True)
class Operation:
    """What one method takes and gives, as drf-spectacular's `extend_schema` names it."""

    responses: Any
    request: Any = None
    parameters: list[OpenApiParameter] = field(default_factory=list)


def list_operations(noun: Noun) -> dict[str, Operation]:
    """Of all things: read them page by page, make one."""
    filters = [
        OpenApiParameter(name, filter_.schema, description=filter_.description)
        for name, filter_ in noun.filters.items()
    ]
    return {
        "GET": Operation(page_serializer(noun.listed), parameters=[*filters, *PAGE]),
        "POST": Operation({201: noun.document}, noun.create, [ETAG, LOCATION]),
    }


def detail_operations(noun: Noun) -> dict[str, Operation]:
    """Of one thing."""
    return {
        "GET": Operation(noun.document, parameters=[ETAG, IF_NONE_MATCH]),
        "PATCH": Operation(noun.document, noun.update, [ETAG, IF_MATCH]),
        "DELETE": Operation({204: None}, parameters=[IF_MATCH]),
    }


def batch_operations(noun: Noun) -> dict[str, Operation]:
    """Of several things at once."""
    return {"POST": Operation({201: BatchSerializer}, items_serializer(noun.create))}


class KeptSchema(ApiSchema):
    """Describes a view by its noun. The docstrings of its methods may say {name} and {word} of the noun."""

    def __init__(self, operations: Callable[[Noun], dict[str, Operation]]) -> None:
        super().__init__()
        self.operations = operations

    @property
    def noun(self) -> Noun:
        return cast("Noun", self.view.noun)  # type: ignore[attr-defined]  # DRF knows no view of ours

    @property
    def operation(self) -> Operation:
        return self.operations(self.noun)[self.method]

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular does itself
        return super().get_description().format(name=self.noun.name, word=self.noun.word)

    def get_override_parameters(self) -> list[Any]:
        return self.operation.parameters

    def get_request_serializer(self) -> Any:
        return self.operation.request

    def get_response_serializers(self) -> Any:
        return self.operation.responses
