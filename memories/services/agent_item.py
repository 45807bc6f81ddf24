"""This module creates, changes and deletes items of agents of every kind (events, entities, patterns, documents, …).

Before items are saved, their references are checked, and the function registered for their model prepares them.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import ForeignKey

from agents.models import Agent
from config.http.cpu_budget import check_cpu
from config.http.errors import Invalid, NotFound
from config.invisible_characters import clean_value
from memories.models.agent_item import AgentItem
from memories.services.announcements import announce_texts
from memories.services.batch_errors import (
    BatchError,
    InvalidBatch,
    duplicate_error,
    invalid_at,
    long_names,
    name_constraints,
    sealed_duplicate,
)
from memories.services.json_values import compact_json
from teams.legal_holds import require_not_held
from teams.level_changes import record_level, require_level
from teams.principal import Principal
from teams.sealing.names import SealedName, stored_forms
from teams.secret_scanning.handling import require_no_secret, storable_value
from teams.versioned_text.versioned_file import StaleVersion, lock_row

PrepareFunction = TypeVar("PrepareFunction", bound=Callable[[Mapping[int, Any]], Iterable[BatchError]])
_preparations: dict[type[AgentItem], Callable[[Mapping[int, Any]], Iterable[BatchError]]] = {}


def before_save(model: type[AgentItem]) -> Callable[[PrepareFunction], PrepareFunction]:
    """Return a decorator that registers the function which prepares items of the model before they are saved.

    The function gets the items by their positions in the batch, and yields what is wrong with them.
    """

    def register(prepare: PrepareFunction) -> PrepareFunction:
        _preparations[model] = prepare
        return prepare

    return register


def prepare_items(agent_id: UUID, things: Mapping[int, AgentItem]) -> None:
    """Prepare the items of an agent, by their positions, to be saved. Raises InvalidBatch with every error found."""
    flaws = long_names(things)
    for model in {type(thing) for thing in things.values()}:
        flaws += _missing_references(agent_id, model, things)
        if model in _preparations:
            flaws += _preparations[model](things)
    if flaws:
        raise InvalidBatch(sorted(flaws, key=lambda flaw: flaw.place))


def _missing_references(
    agent_id: UUID, model: type[AgentItem], things: Mapping[int, AgentItem]
) -> Iterator[BatchError]:
    """Yield an error for each foreign key of the items that names no row of the same agent."""
    for field in model._meta.fields:  # noqa: SLF001 - Django's documented introspection
        if not isinstance(field, ForeignKey) or not issubclass(field.related_model, AgentItem):
            continue
        named = {place: id_ for place, thing in things.items() if (id_ := getattr(thing, field.attname)) is not None}
        if not named:
            continue
        rows = field.related_model._default_manager.filter(agent_id=agent_id, pk__in=set(named.values()))  # noqa: SLF001
        if any(things[place]._state.adding for place in named):  # noqa: SLF001 - Django's documented name
            rows = rows.select_for_update(no_key=True)  # so that it is not raised before its new part is stored
        there = dict(rows.values_list("pk", "sensitivity"))
        noun = field.related_model._meta.verbose_name  # noqa: SLF001
        for place, id_ in named.items():
            if id_ in there:
                # As the database does: a part is at least as sensitive, and has to be sealed before it is stored.
                things[place].sensitivity = max(things[place].sensitivity, there[id_])
            else:
                yield BatchError(
                    place, field.name, f"The agent has no {noun} with this id. Use the id of one that it has."
                )


ItemType = TypeVar("ItemType", bound=AgentItem)
Facts = Mapping[str, Any]
"""Field values of an item, by the names of the model's fields."""

ROWS_PER_STATEMENT = 1_000
SECONDS_PER_ROW = 0.0008
"""CPU time for writing one of the largest rows; most rows take a third of it."""

logger = logging.getLogger(__name__)


@transaction.atomic
def agent_items_create(
    *, model: type[ItemType], agent: Agent, facts: Sequence[Facts], principal: Principal
) -> list[ItemType]:
    """Create items of an agent, all or none, and return them; items whose external id the agent already has are
    skipped.

    Raises InvalidBatch and DuplicateInBatch, whose errors name the positions of the facts.
    """
    lock_row(agent)  # concurrent imports wait for each other
    places = _new_places(model, agent, facts)
    things = {place: model(agent=agent, **_storable_at(place, facts[place], agent)) for place in places}
    for thing in things.values():
        require_level(principal, thing, thing.sensitivity)
        thing.signed_by(principal.author)
    prepare_items(agent.id, things)
    if taken := sealed_duplicate(things):
        raise taken
    rows = list(things.values())
    try:
        with transaction.atomic():
            check_cpu(len(rows) * SECONDS_PER_ROW)
            model._default_manager.bulk_create(rows, batch_size=ROWS_PER_STATEMENT)  # noqa: SLF001
    except IntegrityError as error:
        if conflict := duplicate_error(things, error):
            raise conflict from None
        raise
    if model.is_announced:
        announce_texts(rows)
    return rows


def _storable_at(place: int, facts: Facts, agent: Agent) -> dict[str, Any]:
    """Return the field values of a fact as they are stored. Raises InvalidBatch, whose error names the position."""
    try:
        return storable_facts(facts, agent)
    except Invalid as error:
        raise invalid_at(place, error) from None


def _new_places(model: type[AgentItem], agent: Agent, facts: Sequence[Facts]) -> list[int]:
    """Return the positions of facts whose external id is new to the agent; of several with the same id, the first."""
    named = {fact["external_id"] for fact in facts if fact.get("external_id")}
    seen = ids_there(model, agent, named) if named else set()
    fresh = []
    for place, fact in enumerate(facts):
        external_id = fact.get("external_id", "")
        if external_id not in seen:
            fresh.append(place)
        seen |= {external_id} - {""}
    return fresh


def ids_there(model: type[AgentItem], agent: Agent, external_ids: Collection[str]) -> set[str]:
    """Return those of the external ids that items of the agent have, whoever reads."""
    rows = model.everything.filter(agent=agent)
    is_sealed = isinstance(model._meta.get_field("external_id"), SealedName)  # noqa: SLF001 - Django's documented name
    ids = stored_forms(rows, agent.id, external_ids) if is_sealed else external_ids
    return set(rows.filter(external_id__in=ids).values_list("external_id", flat=True))


def lock_names(thing: AgentItem, changes: Facts) -> None:
    """Lock the item's agent if these changes give the item another name, so that nobody gives the same one."""
    columns = {name for constraint in name_constraints(type(thing)) for name in constraint.fields}
    if any(changes[name] != getattr(thing, name) for name in columns & changes.keys()):
        lock_row(thing.agent)


@transaction.atomic
def agent_item_update(*, thing: ItemType, expected_version: int, changes: Facts, principal: Principal) -> ItemType:
    """Save a new version of the item with these changes, and return the stored row. Without a difference nothing is
    saved.

    Raises StaleVersion, InvalidBatch and DuplicateInBatch.
    """
    lock_names(thing, changes)
    current = lock_row(thing)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    changes = storable_facts(changes, current.agent)
    changed = changed_fields(current, changes)
    if not changed:
        return current
    old_level = current.sensitivity
    require_level(principal, current, changes.get("sensitivity"))
    for name, value in changes.items():
        setattr(current, name, value)
    current.version += 1
    current.signed_by(principal.author, rewritten=not changed.isdisjoint(thing.context_fields))
    prepare_items(current.agent_id, {0: current})
    unique = {name for constraint in name_constraints(type(current)) for name in constraint.fields}
    if not changed.isdisjoint(unique) and (taken := sealed_duplicate({0: current})):
        raise taken
    try:
        with transaction.atomic():
            current.save(force_update=True)
    except IntegrityError as error:
        if conflict := duplicate_error({0: current}, error):
            raise conflict from None
        raise
    if "sensitivity" in changed:
        current.refresh_from_db(fields=["sensitivity"])  # it is at least that of what it belongs to
        record_level(principal, current, old_level)
    if current.is_announced and not changed.isdisjoint(current.context_fields):
        announce_texts([current])
    return current


def storable_facts(facts: Facts, agent: Agent) -> dict[str, Any]:
    """Return the field values as they are stored: without invisible characters, and with secrets only if the agent's
    teams keep them. Ids of other systems stay as they are, or are refused. Raises Invalid for the field with a secret.
    """
    return {
        name: require_no_secret(value, agent, name)
        if name == "external_id"
        else storable_value(clean_value(value), agent, name)
        for name, value in facts.items()
    }


def changed_fields(thing: AgentItem, changes: Facts) -> set[str]:
    """Return the fields whose values differ from the item's. Objects are compared as JSON, in which true and 1
    differ.
    """
    return {
        name
        for name, value in changes.items()
        if (compact_json(value) != compact_json(now) if isinstance(now := getattr(thing, name), dict) else value != now)
    }


def agent_item_delete(*, thing: AgentItem, principal: Principal) -> None:
    """Delete the item and the rows that depend on it; records of contexts keep its text.

    Raises NotFound, and HeldByLaw under a legal hold.
    """
    require_not_held(thing._meta.db_table, thing.pk)  # noqa: SLF001 - Django's documented name
    deleted, _ = type(thing)._default_manager.filter(pk=thing.pk).delete()  # noqa: SLF001
    if not deleted:
        raise NotFound(f"The {thing._meta.verbose_name} “{thing.pk}”")  # noqa: SLF001
    logger.info("%s was deleted by %s", thing.ref, principal.ref)
