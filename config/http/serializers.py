"""JSON of the REST API: a fast renderer, a strict parser, and serializers that refuse unknown fields."""

from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

# What orjson has its own form for is left to the framework's encoder, so that moments end in Z.
OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS


class FastJSONRenderer(JSONRenderer):
    """Compact UTF-8. What orjson refuses, such as numbers of more than 64 bits, is written by the framework."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """The document; b"" where there is none. Raises ValueError for NaN and infinities in what orjson refuses."""
        indented = accepted_media_type is not None and "indent" in accepted_media_type
        if data is not None and not indented:
            try:
                return orjson.dumps(data, default=JSONEncoder().default, option=OPTIONS)
            except orjson.JSONEncodeError:
                pass
        written: bytes = super().render(data, accepted_media_type, renderer_context)
        return written


MAX_NAMED = 20  # unknown fields that an answer names; there may be a million


class StrictJSONParser(JSONParser):
    """JSON that is UTF-8 and not absurdly nested; anything else is a 400, never a 500."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply. Send a flat object.") from None
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8. Encode it as UTF-8 and send it again.") from None


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer that names unknown fields instead of passing them over."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := [name for name in data if name not in self.fields]):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            message = f"There is no such field. Known are: {known}."
            raise serializers.ValidationError({name: [message] for name in unknown[:MAX_NAMED]}, code="unknown")
        return super().to_internal_value(data)
