"""Errors in a batch of items name the position of each invalid item, a field, and what to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from django.db import IntegrityError
from django.db.models import UniqueConstraint
from psycopg.errors import UniqueViolation

from config.db.partitions.partition_indexes import whole_index
from config.http.errors import Conflict, DossierError, Invalid
from memories.models.agent_item import AgentItem
from teams.sealing.names import MAX_NAME_BYTES, SealedName, stored_forms
from teams.sensitivity import DEFAULT_LEVEL

SEVERAL_ERRORS = "Correct the values named in `errors` and send the request again. Nothing was changed."


@dataclass(frozen=True, slots=True)
class BatchError:
    """An error in one item of a batch; `place` is the item's position, counted from 0."""

    place: int
    field: str
    message: str


class BatchRefused(DossierError):
    """The base of errors that refuse a whole batch because some items are invalid; nothing was changed."""

    def __init__(self, flaws: Sequence[BatchError], within: str = "") -> None:
        """Set the errors to report; `within` names the list of the request that held the items, "" for one item."""
        self.flaws = flaws
        errors: dict[str, list[dict[str, str]]] = {}
        for flaw in flaws:
            path = f"{within}.{flaw.place}.{flaw.field}" if within else flaw.field
            errors.setdefault(path, []).append({"code": self.code, "message": flaw.message})
        DossierError.__init__(self, flaws[0].message if len(flaws) == 1 else SEVERAL_ERRORS, errors=errors)

    def among(self, within: str) -> Self:
        """Return the same errors, with the items addressed by their positions in this list of the request."""
        return type(self)(self.flaws, within)


class InvalidBatch(BatchRefused, Invalid):
    """Raised for values that are well formed, but do not fit together or name something that does not exist."""


def invalid_at(place: int, error: Invalid) -> InvalidBatch:
    """Return the error of one field as that of the item at this position."""
    [(field, errors)] = error.extra["errors"].items()
    return InvalidBatch([BatchError(place, field, errors[0]["message"])])


class DuplicateInBatch(BatchRefused, Conflict):
    """Raised for values that must be unique, and that another item has already."""


def duplicate_error(things: Mapping[int, AgentItem], error: IntegrityError) -> DuplicateInBatch | None:
    """Return which items a unique constraint refused, and why; None for any other database error."""
    violation = error.__cause__
    if not isinstance(violation, UniqueViolation):
        return None
    [options] = {type(thing)._meta for thing in things.values()}  # noqa: SLF001 - Django's documented introspection
    constraints = {known.name: known for known in options.total_unique_constraints}
    name = violation.diag.constraint_name or ""
    constraint = constraints.get(name) or constraints.get(whole_index(name))  # the error may name that of a partition
    return None if constraint is None else _duplicates(things, constraint)


def sealed_duplicate(things: Mapping[int, AgentItem]) -> DuplicateInBatch | None:
    """Return which items have a name that another item of the agent has, one of them sealed and the other in plain.

    The database compares names that are both sealed or both in plain. The caller holds the lock of the agent, so that
    nobody gives a name meanwhile.
    """
    for model in {type(thing) for thing in things.values()}:
        own = {place: thing for place, thing in things.items() if type(thing) is model}
        if constraints := name_constraints(model):
            rows = model.everything.filter(agent_id=next(iter(own.values())).agent_id, sensitivity__gt=DEFAULT_LEVEL)
            if any(thing.sensitivity > DEFAULT_LEVEL for thing in own.values()) or rows.exists():
                for constraint in constraints:
                    if refused := _duplicates(own, constraint):
                        return refused
    return None


def name_constraints(model: type[AgentItem]) -> list[UniqueConstraint]:
    """Return the constraints by which names of the model that may be sealed are unique."""
    options = model._meta  # noqa: SLF001 - Django's documented introspection
    sealed = {field.name for field in options.fields if isinstance(field, SealedName)}
    return [one for one in options.total_unique_constraints if not sealed.isdisjoint(one.fields)]


def long_names(things: Mapping[int, AgentItem]) -> list[BatchError]:
    """Return an error for each name that is too long for an index once it is sealed."""
    return [
        BatchError(place, field.name, f"This has over {MAX_NAME_BYTES:,} bytes in UTF-8. Use a shorter one.")
        for place, thing in things.items()
        for field in thing._meta.fields  # noqa: SLF001 - as above
        if isinstance(field, SealedName)
        and len(getattr(thing, field.attname).encode(errors="replace")) > MAX_NAME_BYTES
    ]


def _duplicates(things: Mapping[int, AgentItem], constraint: UniqueConstraint) -> DuplicateInBatch | None:
    [options] = {type(thing)._meta for thing in things.values()}  # noqa: SLF001 - as above
    fields = [field for field in options.fields if field.name in constraint.fields and field.name != "agent"]
    flaws, seen = [], _existing_keys(things, [field.name for field in fields])
    for place, thing in things.items():
        key = tuple(getattr(thing, field.attname) for field in fields)
        if key in seen:
            named = ", ".join(f"{field.name} “{value}”" for field, value in zip(fields, key, strict=True))
            message = f"This {options.verbose_name} exists already: {named}. Change that one, or use another name."
            flaws.append(BatchError(place, fields[-1].name, message))
        seen.add(key)
    return DuplicateInBatch(flaws) if flaws else None


def _existing_keys(things: Mapping[int, AgentItem], fields: list[str]) -> set[tuple[object, ...]]:
    """Return the values of these fields in the agent's other rows that share their first field's value with an item."""
    first, own = fields[0], list(things.values())
    [options] = {type(thing)._meta for thing in own}  # noqa: SLF001 - as above
    rows = type(own[0]).everything.filter(agent_id=own[0].agent_id)
    values = {getattr(thing, first) for thing in own}
    if isinstance(options.get_field(first), SealedName):
        values = {*stored_forms(rows, own[0].agent_id, values)}
    alike = rows.filter(**{f"{first}__in": values})
    return set(alike.exclude(pk__in=[thing.pk for thing in own]).values_list(*fields))
