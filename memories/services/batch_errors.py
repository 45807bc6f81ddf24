"""Why things cannot be kept: each flaw names the place of the thing among those given, a field, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from django.db import IntegrityError
from psycopg.errors import UniqueViolation

from config.http.errors import Conflict, DossierError, Invalid
from memories.models.agent_item import AgentItem

SEVERAL_ERRORS = "Correct the values named in `errors` and send the request again. Nothing was changed."


@dataclass(frozen=True, slots=True)
class BatchError:
    """What is wrong with the thing at that place, counted from 0."""

    place: int
    field: str
    message: str


class BatchRefused(DossierError):
    """Some things cannot be kept as they are; nothing was changed."""

    def __init__(self, flaws: Sequence[BatchError], within: str = "") -> None:
        """`within` is the name of the list that the things came in; one thing alone came in none."""
        self.flaws = flaws
        errors: dict[str, list[dict[str, str]]] = {}
        for flaw in flaws:
            path = f"{within}.{flaw.place}.{flaw.field}" if within else flaw.field
            errors.setdefault(path, []).append({"code": self.code, "message": flaw.message})
        DossierError.__init__(self, flaws[0].message if len(flaws) == 1 else SEVERAL_ERRORS, errors=errors)

    def among(self, within: str) -> Self:
        """The same, naming the things by their places in that list."""
        return type(self)(self.flaws, within)


class InvalidBatch(BatchRefused, Invalid):
    """Values that are well formed but do not fit together, or name what is not there."""


class DuplicateInBatch(BatchRefused, Conflict):
    """What only one thing can have, another has already."""


def duplicate_error(things: Mapping[int, AgentItem], error: IntegrityError) -> DuplicateInBatch | None:
    """Which of the things a unique constraint refused, by the name of what is there; None for any other error."""
    violation = error.__cause__
    if not isinstance(violation, UniqueViolation):
        return None
    [options] = {type(thing)._meta for thing in things.values()}  # noqa: SLF001 - Django's documented introspection
    [constraint] = [known for known in options.total_unique_constraints if known.name == violation.diag.constraint_name]
    fields = [field for field in options.fields if field.name in constraint.fields and field.name != "agent"]
    flaws, seen = [], _existing_keys(things, [field.name for field in fields])
    for place, thing in things.items():
        key = tuple(getattr(thing, field.attname) for field in fields)
        if key in seen:
            named = ", ".join(f"{field.name} “{value}”" for field, value in zip(fields, key, strict=True))
            message = f"This {options.verbose_name} is there already: {named}. Change that one, or name this otherwise."
            flaws.append(BatchError(place, fields[-1].name, message))
        seen.add(key)
    return DuplicateInBatch(flaws) if flaws else None


def _existing_keys(things: Mapping[int, AgentItem], fields: list[str]) -> set[tuple[object, ...]]:
    """The values of the fields that other things of the agent have which look like these."""
    first, own = fields[0], list(things.values())
    rows = type(own[0])._default_manager.filter(agent_id=own[0].agent_id)  # noqa: SLF001
    alike = rows.filter(**{f"{first}__in": {getattr(thing, first) for thing in own}})
    return set(alike.exclude(pk__in=[thing.pk for thing in own]).values_list(*fields))
