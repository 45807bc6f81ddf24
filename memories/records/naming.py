"""Whom records name: things of the agent by their external ids, entities also by their names, tasks their parents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from agents.models import Agent
from memories.importing import ImportRefused
from memories.models import Entity, Session, TaskFrame
from memories.models.kept import Kept
from memories.records.reading import Record
from memories.services import Facts

Key = tuple[type[Kept], str]
"""What an external id names, and the column that its id goes into."""

KEYS: Mapping[str, Mapping[str, Key]] = {
    "tasks": {"parent_key": (TaskFrame, "parent_id"), "session_key": (Session, "session_id")},
    "events": {"task_key": (TaskFrame, "task_id")},  # a session that an event names is made if need be
    "relations": {"source_key": (Entity, "source_id"), "target_key": (Entity, "target_id")},
}
"""By the names of the kinds of lines, and their fields."""


def facts_named(kind: str, agent: Agent, records: Sequence[Record]) -> list[Facts]:
    """The facts with the ids of what they name. Raises ImportRefused for what is not there.

    As many statements as there are ways to name something, however many records.
    """
    facts = [dict(record.facts) for record in records]
    for field, (model, column) in KEYS.get(kind, {}).items():
        ids = _ids_by_key(model, agent, {fact[field] for fact in facts if field in fact})
        for record, fact in zip(records, facts, strict=True):
            if field in fact:
                fact[column] = _of_key(ids, fact.pop(field), model, f"{record.where}: {field}")
    if kind == "relations":
        _by_name(agent, records, facts)
    return list(facts)


def generations(tasks: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """The tasks, parents before their parts: each group hangs on the groups before it, or on what is stored.

    Raises ImportRefused for tasks that are their own parents, directly or in a circle.
    """
    first = {record.facts["external_id"]: record for record in reversed(tasks)}
    done, waiting = set[str](), list(tasks)
    while waiting:
        hanging = [record for record in waiting if _parent(record) in first and _parent(record) not in done]
        if len(hanging) == len(waiting):
            raise _circle(first, waiting[0])
        ready = [record for record in waiting if _parent(record) not in first or _parent(record) in done]
        yield ready
        done |= {record.facts["external_id"] for record in ready}
        waiting = hanging


def _parent(record: Record) -> str:
    parent: str = record.facts.get("parent_key", "")
    return parent


def _circle(first: Mapping[str, Record], record: Record) -> ImportRefused:
    """About a task of the circle that the record's parents lead into."""
    seen = set[str]()
    while record.where not in seen:
        seen.add(record.where)
        record = first[_parent(record)]
    return ImportRefused(
        f"{record.where}: parent_key: This task is its own parent, directly or in a circle. Let one of them have none."
    )


def _ids_by_key(model: type[Kept], agent: Agent, keys: set[str]) -> dict[str, UUID]:
    rows = model._default_manager.filter(agent=agent, external_id__in=keys)  # noqa: SLF001 - Django's name for it
    return dict(rows.values_list("external_id", "pk")) if keys else {}


def _of_key(ids: Mapping[str, UUID], key: str, model: type[Kept], where: str) -> UUID:
    if key not in ids:
        noun = model._meta.verbose_name  # noqa: SLF001 - Django's documented introspection
        message = f"There is no {noun} with the external id “{key}”, here or stored. Add it, or correct this."
        raise ImportRefused(f"{where}: {message}")
    return ids[key]


def _by_name(agent: Agent, records: Sequence[Record], facts: list[dict[str, Any]]) -> None:
    names = {fact[end] for fact in facts for end in ("source_name", "target_name") if end in fact}
    known: dict[str, dict[str, UUID]] = {}
    for name, type_, id_ in Entity.objects.filter(agent=agent, name__in=names).values_list("name", "type", "id"):
        known.setdefault(name, {})[type_] = id_
    for record, fact in zip(records, facts, strict=True):
        for end in ("source", "target"):
            if f"{end}_name" in fact:
                name, type_ = fact.pop(f"{end}_name"), fact.pop(f"{end}_type", "")
                fact[f"{end}_id"] = _entity(known.get(name, {}), name, type_, f"{record.where}: {end}_")


def _entity(ids: Mapping[str, UUID], name: str, type_: str, where: str) -> UUID:
    """The one entity of those with the name, by their types, that has the type; any type if it is empty."""
    fitting = [id_ for of_type, id_ in ids.items() if type_ in ("", of_type)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        types = ", ".join(sorted(ids))
        raise ImportRefused(f"{where}type: Several entities are called “{name}”. Say which one is meant: {types}.")
    kind = type_ or "entity"
    raise ImportRefused(f"{where}name: There is no {kind} called “{name}”. Add it to entities.jsonl, or correct this.")
