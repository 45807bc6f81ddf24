"""The serializers of the contract exist for the OpenAPI document, which describes them by the published schemas."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from rest_framework import serializers

from assembly.contract.schemas import ASSEMBLED_CONTEXT, MEMORY_REQUEST

LOCAL = "#/$defs/"
OUTSIDE_OPENAPI = {"$schema", "$id", "$defs", "title"}
"""Members of a schema that a component of OpenAPI 3.0 does not have."""


class MemoryRequestSerializer(serializers.Serializer[Any]):
    """This serializer stands for the request, which `assembly.contract.validation` validates."""


class AssembledContextSerializer(serializers.Serializer[Any]):
    """This serializer stands for the answer, which `assembly.contract.assembled_context` builds."""


class MemoryRequestComponent(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """This extension describes the request in the OpenAPI document."""

    target_class = "assembly.contract.serializers.MemoryRequestSerializer"

    def map_serializer(self, auto_schema: object, direction: object) -> dict[str, Any]:
        return openapi_schema(MEMORY_REQUEST.document)


class AssembledContextComponent(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """This extension describes the answer in the OpenAPI document."""

    target_class = "assembly.contract.serializers.AssembledContextSerializer"

    def map_serializer(self, auto_schema: object, direction: object) -> dict[str, Any]:
        return openapi_schema(ASSEMBLED_CONTEXT.document)


def openapi_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of JSON Schema 2020-12 as OpenAPI 3.0 has it: definitions in place, null as `nullable`."""
    converted: dict[str, Any] = _converted(document, document["$defs"])
    return converted


def _converted(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_converted(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        definition = definitions[node["$ref"].removeprefix(LOCAL)]
        node = {**definition, **{name: value for name, value in node.items() if name != "$ref"}}
    converted = {
        name: {key: _converted(one, definitions) for key, one in value.items()}
        if name == "properties"
        else _converted(value, definitions)
        for name, value in node.items()
        if name not in OUTSIDE_OPENAPI
    }
    if isinstance(converted.get("type"), list):
        (converted["type"],) = (one for one in converted["type"] if one != "null")
        converted["nullable"] = True
    return converted
