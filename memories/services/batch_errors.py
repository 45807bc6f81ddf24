"""Why things cannot be kept: each flaw names the place of the thing among those given, a field, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from django.db import IntegrityError
from psycopg.errors import UniqueViolation

from config.http.errors import Conflict, DossierError, Invalid
from memories.models.agent_item import Kept

SEVERAL = "Correct the values named in `errors` and send the request again. Nothing was changed."


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with the thing at that place, counted from 0."""

    place: int
    field: str
    message: str


class Flawed(DossierError):
    """Some things cannot be kept as they are; nothing was changed."""

    def __init__(self, flaws: Sequence[Flaw], within: str = "") -> None:
        """`within` is the name of the list that the things came in; one thing alone came in none."""
        self.flaws = flaws
        errors: dict[str, list[dict[str, str]]] = {}
        for flaw in flaws:
            path = f"{within}.{flaw.place}.{flaw.field}" if within else flaw.field
            errors.setdefault(path, []).append({"code": self.code, "message": flaw.message})
        DossierError.__init__(self, flaws[0].message if len(flaws) == 1 else SEVERAL, errors=errors)

    def among(self, within: str) -> Self:
        """The same, naming the things by their places in that list."""
        return type(self)(self.flaws, within)


class Unfit(Flawed, Invalid):
    """Values that are well formed but do not fit together, or name what is not there."""


class Taken(Flawed, Conflict):
    """What only one thing can have, another has already."""


def taken(things: Mapping[int, Kept], error: IntegrityError) -> Taken | None:
    """Which of the things a unique constraint refused, by the name of what is there; None for any other error."""
    violation = error.__cause__
    if not isinstance(violation, UniqueViolation):
        return None
    [options] = {type(thing)._meta for thing in things.values()}  # noqa: SLF001 - Django's documented introspection
    [constraint] = [known for known in options.total_unique_constraints if known.name == violation.diag.constraint_name]
    fields = [field for field in options.fields if field.name in constraint.fields and field.name != "agent"]
    flaws, seen = [], _keys_there(things, [field.name for field in fields])
    for place, thing in things.items():
        key = tuple(getattr(thing, field.attname) for field in fields)
        if key in seen:
            named = ", ".join(f"{field.name} “{value}”" for field, value in zip(fields, key, strict=True))
            message = f"This {options.verbose_name} is there already: {named}. Change that one, or name this otherwise."
            flaws.append(Flaw(place, fields[-1].name, message))
        seen.add(key)
    return Taken(flaws) if flaws else None


def _keys_there(things: Mapping[int, Kept], fields: list[str]) -> set[tuple[object, ...]]:
    """The values of the fields that other things of the agent have which look like these."""
    first, own = fields[0], list(things.values())
    rows = type(own[0])._default_manager.filter(agent_id=own[0].agent_id)  # noqa: SLF001
    alike = rows.filter(**{f"{first}__in": {getattr(thing, first) for thing in own}})
    return set(alike.exclude(pk__in=[thing.pk for thing in own]).values_list(*fields))
