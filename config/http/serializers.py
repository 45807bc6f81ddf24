"""The REST API has a fast JSON renderer, a strict parser, and serializers and fields that convert nothing.

A serializer refuses unknown fields. A field accepts exactly the JSON type: no number for a text, no text for a number.
DRF's own fields convert, and some of their messages repeat what was sent; these do neither.
"""

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.utils.encoders import JSONEncoder

from config.invisible_characters import is_blank

# What orjson has its own form for is left to the framework's encoder, so that moments end in Z.
OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_NON_STR_KEYS


class FastJSONRenderer(JSONRenderer):
    """A renderer of compact UTF-8. What orjson refuses, such as numbers of more than 64 bits, the framework renders."""

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return the document as JSON; b"" for None. Raises ValueError for NaN and infinity in what orjson refuses."""
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
    """A parser of JSON in UTF-8 with limited nesting; anything else is a 400, never a 500."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply. Send a flat object.") from None
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8. Encode it as UTF-8 and send it again.") from None


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer that reports unknown fields as errors."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := [name for name in data if name not in self.fields]):
            known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
            message = f"There is no such field. Known are: {known}."
            raise serializers.ValidationError({name: [message] for name in unknown[:MAX_NAMED]}, code="unknown")
        return super().to_internal_value(data)


EARLIEST_YEAR, LATEST_YEAR = 1900, 2200
SEVERAL_LINES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
INVALID_DATE = f"Use a date that exists, like 2026-02-28, from {EARLIEST_YEAR} to {LATEST_YEAR}."


class ExactText(serializers.CharField):
    """This field is a text exactly as it was sent; services store it without invisible characters.

    DRF's validators refuse NUL and lone surrogates.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **options})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NotesField(serializers.ListField):
    """Notes say what the server changed in the texts of a request before it stored them, and what it found; only its
    response has them.
    """

    def __init__(self, **options: Any) -> None:
        help_text = (
            "In answers to writes alone: what was changed in the texts, such as invisible characters removed, and the"
            " recall tests that failed before and fail still."
        )
        super().__init__(**{"child": serializers.CharField(), "read_only": True, "help_text": help_text, **options})


class VisibleText(ExactText):
    """A text that is not only white space and invisible characters."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if is_blank(text):
            self.fail("blank")
        return text


class Line(VisibleText):
    """A name: one line that is not blank."""

    default_error_messages = {"several_lines": "Use one line, without line breaks and control characters."}

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if SEVERAL_LINES.search(text):
            self.fail("several_lines")
        return text


class Fraction(serializers.FloatField):
    """A JSON number from 0 to 1."""

    default_error_messages = {"fraction": "Use a number from 0 to 1."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 0, "max_value": 1, **options})

    def to_internal_value(self, data: Any) -> float:
        # A huge whole number cannot become a float at all, and NaN would pass every comparison.
        if isinstance(data, bool) or not isinstance(data, int | float) or not (0 <= data <= 1) or math.isnan(data):
            self.fail("fraction")
        return float(data)


class Flag(serializers.BooleanField):
    """JSON's true or false."""

    default_error_messages = {"flag": "Use true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("flag")
        return data


class Moment(serializers.DateTimeField):
    """A date and time, in UTC if it has no offset."""

    default_error_messages = {"year": f"Use a year from {EARLIEST_YEAR} to {LATEST_YEAR}."}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"default_timezone": datetime.UTC, **options})

    def to_internal_value(self, value: Any) -> datetime.datetime:
        moment = super().to_internal_value(value)
        if not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
            self.fail("year")
        return moment


def parse_date(text: str) -> datetime.date | None:
    """Return the date `YYYY-MM-DD`; None if there is no such day, or the year is out of range."""
    if not DATE.fullmatch(text) or not EARLIEST_YEAR <= int(text[:4]) <= LATEST_YEAR:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None
