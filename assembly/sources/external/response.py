"""The response of an endpoint is parsed here: usable results are returned, the others are counted."""

import datetime
import json
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from config.http.outbound.client import OutboundRequestFailed
from config.http.serializers import EARLIEST_YEAR, LATEST_YEAR
from config.invisible_characters import remove_invisible
from teams.sensitivity import LEVEL_WORDS

logger = logging.getLogger(__name__)

MAX_ID_CHARACTERS = 100
MAX_TEXT_CHARACTERS = 100_000
MAX_KIND_CHARACTERS = 60
MAX_PATH_CHARACTERS = 500
MAX_TAG_CHARACTERS = 100
MAX_TAGS = 20
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL's texts, or UTF-8, cannot contain."""


class InvalidResult(ValueError):
    """A result with a member that is missing, of the wrong type or too long."""


class UnknownSensitivity(InvalidResult):
    """A result whose sensitivity is not a known level, so that nobody can say who may read it."""


@dataclass(frozen=True, slots=True)
class ExternalResult:
    """A result of an endpoint. `score` is from 0 to 1, None if there is none; `occurred_at` has a time zone.

    `sensitivity` is the level that the endpoint gives the result; None: that of the source.
    """

    id: str
    text: str = field(repr=False)
    kind: str = ""
    score: float | None = None
    occurred_at: datetime.datetime | None = None
    tags: tuple[str, ...] = ()
    path: str = ""
    sensitivity: int | None = None

    def level(self, source: int) -> int:
        """Return the level of the result of a source of this level, which a result can raise and not lower."""
        return source if self.sensitivity is None else max(source, self.sensitivity)

    def repeats(self, secret: str) -> bool:
        """Return whether any text of the result contains the secret."""
        return any(secret in text for text in (self.id, self.text, self.kind, self.path, *self.tags))


def parse_answer(body: bytes, limit: int) -> tuple[list[ExternalResult], int]:
    """Return the usable results, at most `limit`, and the number of the others. Raises OutboundRequestFailed."""
    entries = _parse_entries(body)
    found: dict[str, ExternalResult] = {}
    for entry in entries[:limit]:
        try:
            result = _parse_result(entry)
        except UnknownSensitivity:
            logger.warning("a result has an unknown sensitivity, so it is not used")
            continue
        except InvalidResult:
            continue
        found.setdefault(result.id, result)
    return list(found.values()), len(entries) - len(found)


def _parse_entries(body: bytes) -> list[Any]:
    try:
        document = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise OutboundRequestFailed("Its answer is not JSON in UTF-8.") from None
    entries = document.get("results") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise OutboundRequestFailed("Its answer lacks the list “results”.")
    return entries


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are no JSON


def _parse_result(entry: Any) -> ExternalResult:
    if not isinstance(entry, dict):
        raise InvalidResult
    given = {name: value for name, value in entry.items() if value is not None}
    return ExternalResult(
        id=_parse_line(given.get("id"), MAX_ID_CHARACTERS),
        text=_parse_text(given.get("text")),
        kind=_parse_optional_line(given, "kind", MAX_KIND_CHARACTERS),
        score=_parse_score(given["score"]) if "score" in given else None,
        occurred_at=_parse_time(given["occurred_at"]) if "occurred_at" in given else None,
        tags=_parse_tags(given.get("tags", [])),
        path=_parse_optional_line(given, "path", MAX_PATH_CHARACTERS),
        sensitivity=_parse_level(given["sensitivity"]) if "sensitivity" in given else None,
    )


def _parse_text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARACTERS or UNSTORABLE.search(value):
        raise InvalidResult
    return remove_invisible(value)


def _parse_line(value: Any, most: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        raise InvalidResult
    return value


def _parse_optional_line(given: Mapping[str, Any], name: str, most: int) -> str:
    return _parse_line(given[name], most) if given.get(name, "") != "" else ""


def _parse_tags(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_TAGS:
        raise InvalidResult
    return tuple(_parse_line(tag, MAX_TAG_CHARACTERS) for tag in value)


def _parse_score(value: Any) -> float:
    # A huge whole number cannot become a float at all, and NaN would pass every comparison.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1 or math.isnan(value):
        raise InvalidResult
    return float(value)


def _parse_level(value: Any) -> int:
    if not isinstance(value, str) or value not in LEVEL_WORDS:
        raise UnknownSensitivity
    return int(LEVEL_WORDS[value])


def _parse_time(value: Any) -> datetime.datetime:
    try:
        moment = datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InvalidResult from None
    if moment.utcoffset() is None or not EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
        raise InvalidResult
    return moment
