"""Parameters of lists: what rows must meet, made of the text that was sent."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework.exceptions import ValidationError

from config.http.errors import Invalid
from config.http.serializers import Moment
from memories.models.graph import names_in_queries

NOT_AN_ID = "Use the id of a thing, as in its document."


@dataclass(frozen=True, slots=True)
class Filter:
    """`condition` raises ValueError, with a sentence, for a text that means nothing. `schema` is OpenAPI's."""

    condition: Callable[[str], Q]
    description: str
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "string"})

    def applied(self, name: str, text: str) -> Q:
        """What rows must meet. Raises Invalid for a text that means nothing."""
        try:
            return self.condition(text)
        except ValueError as error:
            raise Invalid(name, str(error)) from None


def parse_id(text: str) -> UUID:
    """The id that the text is. Raises ValueError."""
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(NOT_AN_ID) from None


def by_id(*columns: str, description: str) -> Filter:
    """Rows of which one of the columns names that thing."""

    def condition(text: str) -> Q:
        named, found = parse_id(text), Q()
        for column in columns:
            found |= Q(**{column: named})
        return found

    return Filter(condition, description, {"type": "string", "format": "uuid"})


def by_value(column: str, description: str) -> Filter:
    """Rows with exactly that value."""
    return Filter(lambda text: Q(**{column: text}), description)


def by_choice(column: str, choices: Collection[str], description: str) -> Filter:
    """Rows with one of the few values that there are."""

    def condition(text: str) -> Q:
        if text not in choices:
            raise ValueError(f"Use one of: {', '.join(choices)}.")
        return Q(**{column: text})

    return Filter(condition, description, {"type": "string", "enum": list(choices)})


def by_flag(column: str, description: str) -> Filter:
    """Rows for which that is true, or those for which it is not."""

    def condition(text: str) -> Q:
        if text not in {"true", "false"}:
            raise ValueError("Use true or false.")
        return Q(**{column: text == "true"})

    return Filter(condition, description, {"type": "boolean"})


def by_start(column: str, description: str) -> Filter:
    """Rows whose value begins like that."""
    return Filter(lambda text: Q(**{f"{column}__startswith": text}), description)


def since(column: str, description: str) -> Filter:
    """Rows of that moment and later."""

    def condition(text: str) -> Q:
        try:
            return Q(**{f"{column}__gte": Moment().run_validation(text)})
        except ValidationError:
            raise ValueError("Use a date and time like 2026-02-28T09:30:00Z, with + written as %2B.") from None

    return Filter(condition, description, {"type": "string", "format": "date-time"})


def by_name() -> Filter:
    """Entities with that name or alias, in whatever case."""
    return Filter(lambda text: Q(names__contains=names_in_queries(text, [])), "A name or an alias, in whatever case.")
