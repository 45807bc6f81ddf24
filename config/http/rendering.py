"""How REST answers are written: the same JSON as Django REST framework's, several times as fast."""

from collections.abc import Mapping
from typing import Any

import orjson
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
