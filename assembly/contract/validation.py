"""Validation checks a MemoryRequest.v0 by its published schema, and says of each wrong field what to do.

jsonschema visits every value and puts whole values into its messages, so a body is measured before: one with more
values, or deeper nested, than any valid request is refused without it. Its own messages are not used.
"""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils import timezone
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaError
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from assembly.contract.schemas import MEMORY_REQUEST
from config.http.serializers import MAX_NAMED, Moment

MAX_VALUES = 500
"""The most values of one field, those inside of it included: about four times what the largest field may have."""
MAX_DEPTH = 5
"""The deepest nesting of the values of a field: a pattern of a kv_policy is three deep."""

OVERSIZED = ErrorDetail("It holds too many values. Send fewer.", "max_length")
NO_UNICODE = ErrorDetail("A lone surrogate is no character. Remove it.", "surrogate_characters_not_allowed")

_validator = Draft202012Validator(MEMORY_REQUEST.document)
_fields: Mapping[str, Any] = MEMORY_REQUEST.document["properties"]

Errors = dict[str, list[ErrorDetail]]
"""Errors by the dotted path of their field."""


def require_memory_request(body: Any) -> dict[str, Any]:
    """Return the body, a valid MemoryRequest.v0.

    Raises ValidationError, which becomes a 422 that names each wrong field, at most MAX_NAMED of them.
    """
    if not isinstance(body, dict):
        raise serializers.ValidationError({"body": [ErrorDetail("Send a JSON object.", "invalid")]})
    errors = _size_errors(body) or _schema_errors(body) or _moment_errors(body)
    if errors:
        raise serializers.ValidationError(dict([*errors.items()][:MAX_NAMED]))
    return body


def _size_errors(body: dict[str, Any]) -> Errors:
    """Return the errors of unknown fields, and of fields that the schema cannot be asked about."""
    unknown = [name for name in body if name not in _fields][:MAX_NAMED]
    if unknown:
        message = f"There is no such field. Known are: {', '.join(_fields)}."
        return {name: [ErrorDetail(message, "unknown")] for name in unknown}
    return {name: [detail] for name, value in body.items() if (detail := _value_error(value))}


def _value_error(value: Any) -> ErrorDetail | None:
    """Return why a field cannot be validated: it holds too many values, or a text that is no Unicode; else None."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        if isinstance(one, str) and not _is_unicode(one):
            return NO_UNICODE
        inside = [*one.values()] if isinstance(one, dict) else one if isinstance(one, list) else []
        if seen + len(inside) > MAX_VALUES or (inside and depth >= MAX_DEPTH):
            return OVERSIZED
        waiting += [(inner, depth + 1) for inner in inside]
    return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _schema_errors(body: dict[str, Any]) -> Errors:
    errors: Errors = {}
    for error in _validator.iter_errors(body):
        for field, detail in _details_of(error):
            errors.setdefault(field, [detail])
        if len(errors) >= MAX_NAMED:
            break
    return errors


def _details_of(error: SchemaError) -> Iterator[tuple[str, ErrorDetail]]:
    """Yield the fields that an error of the schema is about, with what to do about each."""
    path = [str(part) for part in error.absolute_path]
    schema: Any = error.schema
    instance: Any = error.instance
    if error.validator == "required":
        for name in schema["required"]:
            if name not in instance:
                yield ".".join([*path, name]), ErrorDetail("This field is required.", "required")
    elif error.validator == "additionalProperties":
        known = schema["properties"]
        message = f"There is no such field. Known are: {', '.join(known)}."
        unknown: set[str] = instance.keys() - known  # at most MAX_VALUES
        for name in sorted(unknown):
            yield ".".join([*path, name]), ErrorDetail(message, "unknown")
    else:
        yield ".".join(path) or "body", _detail_of(str(error.validator), schema)


def _detail_of(keyword: str, schema: Mapping[str, Any]) -> ErrorDetail:
    """Return what to do about a value that breaks this keyword of its schema."""
    match keyword:
        case "type":
            return ErrorDetail(_type_sentence(schema), "invalid")
        case "enum":
            return ErrorDetail(f"Use one of: {', '.join(schema['enum'])}.", "invalid_choice")
        case "minimum" | "maximum":
            return ErrorDetail(_type_sentence(schema), "min_value" if keyword == "minimum" else "max_value")
        case "maxLength":
            return ErrorDetail(f"Use at most {schema['maxLength']:,} characters.", "max_length")
        case "minLength":
            return ErrorDetail("This field may not be empty.", "blank")
        case "maxItems":
            return ErrorDetail(f"Name at most {schema['maxItems']:,}.", "max_length")
        case "minItems":
            return ErrorDetail("Name at least one, or leave the field out.", "min_length")
        case "not":
            return ErrorDetail("Use printable ASCII characters alone.", "invalid")
    return ErrorDetail("A NUL character cannot be used. Remove it.", "null_characters_not_allowed")


def _type_sentence(schema: Mapping[str, Any]) -> str:
    match schema["type"]:
        case "integer":
            return f"Use a whole number from {schema['minimum']:,} to {schema['maximum']:,}."
        case "number":
            return f"Use a number from {schema['minimum']:,} to {schema['maximum']:,}."
        case "array":
            return "Use a list."
        case "object":
            return "Use an object."
    return "Use a text." if schema["type"] == "string" else "Use a text, or null."


class ZonedMoment(Moment):
    """A date and time with its offset, as the format `date-time` of JSON Schema (RFC 3339) requires."""

    default_error_messages = {"zone": "Add the offset from UTC, as in 2026-02-28T09:30:00Z."}

    def enforce_timezone(self, value: datetime.datetime) -> datetime.datetime:
        if timezone.is_naive(value):
            self.fail("zone")
        return super().enforce_timezone(value)


def _moment_errors(body: dict[str, Any]) -> Errors:
    """Return the error of a `now` that is no moment: validators need not check formats, so the schema does not."""
    if "now" not in body:
        return {}
    try:
        ZonedMoment().run_validation(body["now"])
    except serializers.ValidationError as error:
        detail: Any = error.detail
        return {"now": list(detail)}
    return {}
