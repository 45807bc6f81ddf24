"""What is done to new and changed things before they are saved: check what they name, compute what follows.

Writes about the things that an agent keeps: one way to make, change and delete them, whatever they are.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ForeignKey

from agents.models import Agent
from config.http.cpu_budget import check_cpu
from config.http.errors import NotFound
from memories.models.agent_item import Kept
from memories.services.batch_errors import Flaw, Unfit, taken
from memories.services.json_values import compact
from teams.principal import Principal
from teams.versioned_text.versioned_file import StaleVersion, locked

Prepare = TypeVar("Prepare", bound=Callable[[Mapping[int, Any]], Iterable[Flaw]])
_preparations: dict[type[Kept], Callable[[Mapping[int, Any]], Iterable[Flaw]]] = {}


def prepares(model: type[Kept]) -> Callable[[Prepare], Prepare]:
    """Registers what prepares the things of a model. It gets them by their places and yields their flaws."""

    def register(prepare: Prepare) -> Prepare:
        _preparations[model] = prepare
        return prepare

    return register


def prepare(agent_id: UUID, things: Mapping[int, Kept]) -> None:
    """Make the things ready to be saved. Raises Unfit, which names every flaw that was found."""
    flaws: list[Flaw] = []
    for model in {type(thing) for thing in things.values()}:
        flaws += _not_there(agent_id, model, things)
        if model in _preparations:
            flaws += _preparations[model](things)
    if flaws:
        raise Unfit(sorted(flaws, key=lambda flaw: flaw.place))


def _not_there(agent_id: UUID, model: type[Kept], things: Mapping[int, Kept]) -> Iterator[Flaw]:
    """A flaw for everything that is named by its id, but is no thing of the same agent."""
    for field in model._meta.fields:  # noqa: SLF001 - Django's documented introspection
        if not isinstance(field, ForeignKey) or not issubclass(field.related_model, Kept):
            continue
        named = {place: id_ for place, thing in things.items() if (id_ := getattr(thing, field.attname)) is not None}
        if not named:
            continue
        rows = field.related_model._default_manager.filter(agent_id=agent_id, pk__in=set(named.values()))  # noqa: SLF001
        there = set(rows.values_list("pk", flat=True))
        noun = field.related_model._meta.verbose_name  # noqa: SLF001
        for place, id_ in named.items():
            if id_ not in there:
                yield Flaw(place, field.name, f"The agent has no {noun} with this id. Use the id of one that it has.")


Thing = TypeVar("Thing", bound=Kept)
Facts = Mapping[str, Any]
"""Values by the names of the model's fields."""

ROWS_PER_STATEMENT = 1_000
SECONDS_PER_ROW = 0.0008
"""CPU time for writing one of the largest; most take a third of it."""

logger = logging.getLogger(__name__)


@transaction.atomic
def kept_create(*, model: type[Thing], agent: Agent, facts: Sequence[Facts], principal: Principal) -> list[Thing]:
    """New things of an agent, all or none; those whose external id the agent has already are passed over.

    Raises Unfit and Taken, whose flaws name the places of the facts.
    """
    locked(agent)  # two imports at once take turns
    things = {place: model(agent=agent, **facts[place]) for place in _fresh(model, agent, facts)}
    for thing in things.values():
        thing.signed_by(principal.author)
    prepare(agent.id, things)
    rows = list(things.values())
    try:
        with transaction.atomic():
            check_cpu(len(rows) * SECONDS_PER_ROW)
            model._default_manager.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)  # noqa: SLF001
    except IntegrityError as error:
        if conflict := taken(things, error):
            raise conflict from None
        raise
    return rows


def _fresh(model: type[Kept], agent: Agent, facts: Sequence[Facts]) -> list[int]:
    """The places of the facts that are new to the agent; of those with the same external id, the first."""
    named = {fact["external_id"] for fact in facts if fact.get("external_id")}
    rows = model._default_manager.filter(agent=agent, external_id__in=named)  # noqa: SLF001
    seen = set(rows.values_list("external_id", flat=True)) if named else set()
    fresh = []
    for place, fact in enumerate(facts):
        external_id = fact.get("external_id", "")
        if external_id not in seen:
            fresh.append(place)
        seen |= {external_id} - {""}
    return fresh


@transaction.atomic
def kept_update(*, thing: Thing, expected_version: int, changes: Facts, principal: Principal) -> Thing:
    """Save the thing's next state; where nothing differs, its version stays.

    Returns the thing as it is stored now. Raises StaleVersion, Unfit and Taken.
    """
    current = locked(thing)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    if not differs(current, changes):
        return current
    for name, value in changes.items():
        setattr(current, name, value)
    current.version += 1
    current.signed_by(principal.author)
    prepare(current.agent_id, {0: current})
    try:
        with transaction.atomic():
            current.save(force_update=True)
    except IntegrityError as error:
        if conflict := taken({0: current}, error):
            raise conflict from None
        raise
    return current


def differs(thing: Kept, changes: Facts) -> bool:
    """Whether the changes would change anything. JSON's true and 1 differ, although Python's are equal."""
    return any(
        compact(value) != compact(now) if isinstance(now := getattr(thing, name), dict) else value != now
        for name, value in changes.items()
    )


def kept_delete(*, thing: Kept, principal: Principal) -> None:
    """Delete the thing and what hangs on it. Assemblies that used it keep its text in their record. Raises NotFound."""
    deleted, _ = type(thing)._default_manager.filter(pk=thing.pk).delete()  # noqa: SLF001
    if not deleted:
        raise NotFound(f"The {thing._meta.verbose_name} “{thing.pk}”")  # noqa: SLF001
    logger.info("%s was deleted by %s", thing.ref, principal.ref)
