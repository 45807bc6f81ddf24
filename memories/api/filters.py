"""Filters of lists turn the text of a query parameter into a database condition."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError

from config.http.errors import Invalid
from config.http.serializers import Moment
from memories.models.graph import names_in_queries
from teams.sealing.names import stored_forms

NOT_AN_ID = "Use the id of an item, as in its document."


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of a list. `schema` is the parameter's OpenAPI schema.

    `condition` returns the condition for a text, and raises ValueError, with a message, for an invalid one.
    """

    condition: Callable[[str], Q]
    description: str
    schema: dict[str, Any] = field(default_factory=lambda: {"type": "string"})
    sealed_names: Callable[[str], tuple[str, list[str]]] | None = None
    """A function of a filter by name that returns the lookup of rows with one of a list of names, and the names. Names
    in rows above internal are sealed, and are found as a whole.
    """

    def applied(self, name: str, text: str, rows: QuerySet[Any], owner: UUID) -> Q:
        """Return the database condition for the text, among these rows of the owner. Raises Invalid for an invalid
        text; `name` is the parameter.
        """
        try:
            condition = self.condition(text)
        except ValueError as error:
            raise Invalid(name, str(error)) from None
        if self.sealed_names:
            lookup, names = self.sealed_names(text)
            if sealed := stored_forms(rows, owner, names)[len(names) :]:
                condition |= Q(**{lookup: sealed})
        return condition


def parse_id(text: str) -> UUID:
    """Return the text as a UUID. Raises ValueError."""
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(NOT_AN_ID) from None


def by_id(*columns: str, description: str) -> Filter:
    """Return a filter for rows of which one of the columns has this id."""

    def condition(text: str) -> Q:
        named, found = parse_id(text), Q()
        for column in columns:
            found |= Q(**{column: named})
        return found

    return Filter(condition, description, {"type": "string", "format": "uuid"})


def by_value(column: str, description: str) -> Filter:
    """Return a filter for rows with exactly this value."""
    return Filter(lambda text: Q(**{column: text}), description)


def by_whole_name(column: str, description: str) -> Filter:
    """Return a filter for rows with exactly this name, which may be sealed."""
    return Filter(lambda text: Q(**{column: text}), description, sealed_names=lambda text: (f"{column}__in", [text]))


def by_choice(column: str, choices: Collection[str], description: str) -> Filter:
    """Return a filter for rows with one of a few allowed values."""

    def condition(text: str) -> Q:
        if text not in choices:
            raise ValueError(f"Use one of: {', '.join(choices)}.")
        return Q(**{column: text})

    return Filter(condition, description, {"type": "string", "enum": list(choices)})


def by_flag(column: str, description: str) -> Filter:
    """Return a filter for rows with this column true, or false."""

    def condition(text: str) -> Q:
        if text not in {"true", "false"}:
            raise ValueError("Use true or false.")
        return Q(**{column: text == "true"})

    return Filter(condition, description, {"type": "boolean"})


def by_start(column: str, description: str) -> Filter:
    """Return a filter for rows whose name begins with the text; a sealed one has to be the text."""
    return Filter(
        lambda text: Q(**{f"{column}__startswith": text}),
        description,
        sealed_names=lambda text: (f"{column}__in", [text]),
    )


def since(column: str, description: str) -> Filter:
    """Return a filter for rows of this time or later."""

    def condition(text: str) -> Q:
        try:
            return Q(**{f"{column}__gte": Moment().run_validation(text)})
        except ValidationError:
            raise ValueError("Use a date and time like 2026-02-28T09:30:00Z, with + written as %2B.") from None

    return Filter(condition, description, {"type": "string", "format": "date-time"})


def by_name() -> Filter:
    """Return a filter for entities with this name or alias, in upper or lower case."""
    return Filter(
        lambda text: Q(names__contains=names_in_queries(text, [])),
        "A name or an alias, in whatever case.",
        sealed_names=lambda text: ("names__overlap", names_in_queries(text, [])),
    )
