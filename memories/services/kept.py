"""Writes about the things that an agent keeps: one way to make, change and delete them, whatever they are."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db import IntegrityError, transaction

from agents.models import Agent
from config.http.cpu_budget import check_cpu
from config.http.errors import NotFound
from memories.compact_json import compact
from memories.models.kept import Kept
from memories.services.flaws import taken
from memories.services.preparation import prepare
from teams.files import StaleVersion, locked
from teams.principal import Principal

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
