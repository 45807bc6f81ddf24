"""These serializer fields of agents' items accept exact JSON types only, like those of config.http.serializers."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.http.serializers import ExactText, Line
from memories.services.json_values import compact_json, json_problem

MAX_TEXT_CHARACTERS = 20_000
MAX_COUNT = 1_000_000_000
MAX_LIST_ITEMS = 50
MAX_PROPERTIES = 50

READABLE_HELP = (
    "false in lists: the text is archived in a store that cannot be read now, and a notice is in its place. "
    "Who asks for the item itself gets 503."
)

valid_event_type = RegexValidator(
    r"\A[a-z0-9_.:-]{1,40}\Z", "Use 1 to 40 lower-case letters, digits and _ . : - as in file_read."
)
valid_type = RegexValidator(r"\A[A-Za-z0-9_.:-]{1,60}\Z", "Use 1 to 60 letters, digits and _ . : - as in Person.")


def type_field(**options: Any) -> ExactText:
    """Return a field for the type of an entity or relation: one word."""
    return ExactText(max_length=60, validators=[valid_type], **options)


def external_id_field() -> ExactText:
    """Return a field for the id that a new item has in another system."""
    return ExactText(
        max_length=200, allow_blank=True, required=False, default="", help_text="Its id elsewhere, once per agent."
    )


def lines_field(max_characters: int, **options: Any) -> serializers.ListField:
    """Return a field for a list of names."""
    return serializers.ListField(child=Line(max_length=max_characters), max_length=MAX_LIST_ITEMS, **options)


def choice_field(choices: Collection[str], **options: Any) -> serializers.ChoiceField:
    """Return a field that accepts one of a few words."""
    messages: dict[str, Any] = {"invalid_choice": f"Use one of: {', '.join(choices)}."}
    return serializers.ChoiceField(choices=list(choices), error_messages=messages, **options)


class ItemId(serializers.UUIDField):
    """A field for the id, as a text, of another item of the same agent."""

    default_error_messages = {"invalid": "Use the id of an item, as in its document."}

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Count(serializers.IntegerField):
    """A field for a whole JSON number from 0 on."""

    default_error_messages = {"count": f"Use a whole number from 0 to {MAX_COUNT:,}."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 0, "max_value": MAX_COUNT, **options})

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data <= MAX_COUNT:
            self.fail("count")
        return data


@extend_schema_field({"type": "object", "additionalProperties": {}})
class JsonObject(serializers.Field[Any, Any, Any, Any]):
    """A field for a JSON object that PostgreSQL can store, of at most `max_characters` as compact JSON."""

    default_error_messages = {
        "object": "Use a JSON object, in braces.",
        "value": "{fault}",
        "max_length": "Use at most {max_characters:,} characters as JSON without white space.",
    }

    def __init__(self, *, max_characters: int, **options: Any) -> None:
        super().__init__(**options)
        self.max_characters = max_characters

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("object")
        if fault := json_problem(data):
            self.fail("value", fault=fault)
        if len(compact_json(data)) > self.max_characters:
            self.fail("max_length", max_characters=self.max_characters)
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({
    "type": "object", "maxProperties": MAX_PROPERTIES,
    "additionalProperties": {
        "oneOf": [{"type": "string", "nullable": True}, {"type": "number"}, {"type": "boolean"}],
    },
})  # fmt: skip
class Properties(JsonObject):
    """A field for a flat JSON object: names with single values."""

    default_error_messages = {
        "flat": "Use texts, numbers, true, false and null as values, no lists and objects.",
        "max_properties": f"Use at most {MAX_PROPERTIES} names.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_characters": MAX_TEXT_CHARACTERS, **options})

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        properties = super().to_internal_value(data)
        if len(properties) > MAX_PROPERTIES:
            self.fail("max_properties")
        if any(isinstance(value, dict | list) for value in properties.values()):
            self.fail("flat")
        return properties
