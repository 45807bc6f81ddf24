"""This module stores the records of a folder for an agent, all or nothing, in batches, and skips existing ones.

References between records are external ids, or for entities names; they are replaced by ids.
"""

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from agents.models import Agent
from memories.imports.base import Advance, ImportRefused, get_or_create_agent
from memories.imports.record_folder import Record, RecordFolder
from memories.imports.record_kinds import RECORD_KINDS, RecordKind
from memories.models import Document, Entity, Session, TaskFrame
from memories.models.agent_item import AgentItem
from memories.services import BatchRefused, Facts
from memories.services.document import DOCUMENTS_PER_JOB, document_update, documents_create
from teams.origin import Origin
from teams.principal import Principal
from teams.sealing.names import stored_forms
from teams.versioned_text.versioned_file import lock_row

Key = tuple[type[AgentItem], str]
"""The model that an external id refers to, and the foreign key column for its id."""

REFERENCES: Mapping[str, Mapping[str, Key]] = {
    "tasks": {"parent_key": (TaskFrame, "parent_id"), "session_key": (Session, "session_id")},
    "events": {"task_key": (TaskFrame, "task_id")},  # a session that an event names is created if necessary
    "relations": {"source_key": (Entity, "source_id"), "target_key": (Entity, "target_id")},
}
"""The references of each kind of record, by field."""


def resolve_references(kind: str, agent: Agent, records: Sequence[Record]) -> list[Facts]:
    """Return the field values with references replaced by ids. Raises ImportRefused for a missing item.

    The number of queries depends on the kind's references, not on the number of records.
    """
    facts = [dict(record.facts) for record in records]
    for field, (model, column) in REFERENCES.get(kind, {}).items():
        ids = _ids_by_key(model, agent, {fact[field] for fact in facts if field in fact})
        for record, fact in zip(records, facts, strict=True):
            if field in fact:
                fact[column] = _id_of_key(ids, fact.pop(field), model, f"{record.where}: {field}")
    if kind == "relations":
        _resolve_entity_names(agent, records, facts)
    return list(facts)


def generations(tasks: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """Yield the tasks in groups, parents before their children: parents are in earlier groups or stored already.

    Raises ImportRefused for a task that is its own parent, directly or in a circle.
    """
    first = {record.facts["external_id"]: record for record in reversed(tasks)}
    done, waiting = set[str](), list(tasks)
    while waiting:
        hanging = [record for record in waiting if _parent(record) in first and _parent(record) not in done]
        if len(hanging) == len(waiting):
            raise _circular_error(first, waiting[0])
        ready = [record for record in waiting if _parent(record) not in first or _parent(record) in done]
        yield ready
        done |= {record.facts["external_id"] for record in ready}
        waiting = hanging


def _parent(record: Record) -> str:
    parent: str = record.facts.get("parent_key", "")
    return parent


def _circular_error(first: Mapping[str, Record], record: Record) -> ImportRefused:
    """Return an error that names a task of the circle to which the record's parents lead."""
    seen = set[str]()
    while record.where not in seen:
        seen.add(record.where)
        record = first[_parent(record)]
    return ImportRefused(
        f"{record.where}: parent_key: This task is its own parent, directly or in a circle. Let one of them have none."
    )


def _ids_by_key(model: type[AgentItem], agent: Agent, keys: set[str]) -> dict[str, UUID]:
    if not keys:
        return {}
    rows = model._default_manager.filter(agent=agent)  # noqa: SLF001 - Django's name for it
    ids = stored_forms(rows, agent.id, keys) if model is Session else keys
    return dict(rows.filter(external_id__in=ids).values_list("external_id", "pk"))


def _id_of_key(ids: Mapping[str, UUID], key: str, model: type[AgentItem], where: str) -> UUID:
    if key not in ids:
        endpoint = model._meta.verbose_name  # noqa: SLF001 - Django's documented introspection
        message = f"There is no {endpoint} with the external id “{key}”, here or stored. Add it, or correct this."
        raise ImportRefused(f"{where}: {message}")
    return ids[key]


def _resolve_entity_names(agent: Agent, records: Sequence[Record], facts: list[dict[str, Any]]) -> None:
    names = {fact[end] for fact in facts for end in ("source_name", "target_name") if end in fact}
    known: dict[str, dict[str, UUID]] = {}
    rows = Entity.objects.filter(agent=agent)
    found = rows.filter(name__in=stored_forms(rows, agent.id, names)).values_list("name", "type", "id")
    for name, type_, id_ in found:
        known.setdefault(name, {})[type_] = id_
    for record, fact in zip(records, facts, strict=True):
        for end in ("source", "target"):
            if f"{end}_name" in fact:
                name, type_ = fact.pop(f"{end}_name"), fact.pop(f"{end}_type", "")
                fact[f"{end}_id"] = _find_entity(known.get(name, {}), name, type_, f"{record.where}: {end}_")


def _find_entity(ids: Mapping[str, UUID], name: str, type_: str, where: str) -> UUID:
    """Return the entity with this type, of the entities (by type) with this name; an empty type matches all.

    Raises ImportRefused where there is not exactly one.
    """
    fitting = [id_ for of_type, id_ in ids.items() if type_ in ("", of_type)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        types = ", ".join(sorted(ids))
        raise ImportRefused(f"{where}type: Several entities are called “{name}”. Say which one is meant: {types}.")
    kind = type_ or "entity"
    raise ImportRefused(f"{where}name: There is no {kind} called “{name}”. Add it to entities.jsonl, or correct this.")


NOW = datetime.datetime.max.replace(tzinfo=datetime.UTC)
"""The time by which events without a time are sorted: after all others, because they happen when they are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordImport:
    """The numbers of new items by kind, and of documents that got a new version."""

    new: Mapping[str, int]
    changed_documents: int


@transaction.atomic
def records_import(*, records: RecordFolder, agent: str, principal: Principal, advance: Advance) -> RecordImport:
    """Store a folder's records for the agent with that slug, which is created if necessary; all or nothing.

    Items that exist already, by external id, are not changed; a document with the same path gets the text as its next
    version. Records come from the agent or its tools, documents from who imports them. Raises ImportRefused.
    """
    if not records.size:
        raise ImportRefused(f"There is nothing to import for {agent}; name a folder with events.jsonl or documents/.")
    owner = lock_row(get_or_create_agent(agent))  # concurrent imports wait for each other
    by = principal.relaying(Origin.AGENT)
    new = {kind.endpoint.name: _store_lines(owner, kind, records, by, advance) for kind in RECORD_KINDS}
    new["documents"] = changed = 0
    for batch in _batches(records.documents, DOCUMENTS_PER_JOB):
        created, updated = _store_documents(owner, batch, principal)
        new["documents"] += created
        changed += updated
        advance(len(batch))
    return RecordImport(new=new, changed_documents=changed)


def _store_lines(agent: Agent, kind: RecordKind, records: RecordFolder, principal: Principal, advance: Advance) -> int:
    new = 0
    for group in _groups(kind, records.lines[kind.endpoint.name]):
        for batch in _batches(group, kind.batch_size):
            facts = resolve_references(kind.endpoint.name, agent, batch)
            new += len(_create(kind.endpoint.creates, agent, facts, batch, principal))
            advance(len(batch))
    return new


def _groups(kind: RecordKind, records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """Yield the records in groups, in an order in which they can be stored."""
    if kind.endpoint.name == "tasks":
        yield from generations(records)
    elif kind.endpoint.name == "events":
        # A session that is created for its events starts with the first of them, which may be anywhere in the file.
        yield sorted(records, key=lambda record: record.facts.get("occurred_at") or NOW)
    else:
        yield records


def _batches(records: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    for start in range(0, len(records), size):
        yield records[start : start + size]


def _store_documents(agent: Agent, batch: Sequence[Record], principal: Principal) -> tuple[int, int]:
    """Store documents that are new or have a new text; return the numbers of new and of changed ones."""
    known = {document.path: document for document in _existing_documents(agent, batch)}
    fresh = [record for record in batch if record.facts["path"] not in known]
    _create(documents_create, agent, [record.facts for record in fresh], fresh, principal)
    changed = 0
    for record in batch:
        document = known.get(record.facts["path"])
        if document and document.content != record.facts["content"]:
            changes = {"content": record.facts["content"]}
            document_update(thing=document, expected_version=document.version, changes=changes, principal=principal)
            changed += 1
    return len(fresh), changed


def _existing_documents(agent: Agent, batch: Sequence[Record]) -> Sequence[Document]:
    paths = [record.facts["path"] for record in batch]
    rows = Document.objects.filter(agent=agent)
    return list(rows.filter(path__in=stored_forms(rows, agent.id, paths)).select_for_update(no_key=True))


def _create(
    create: Callable[..., list[Any]],
    agent: Agent,
    facts: Sequence[Facts],
    batch: Sequence[Record],
    principal: Principal,
) -> list[Any]:
    """Create items with the service `create`, and return them. Raises ImportRefused, naming the line of the first
    error.
    """
    try:
        return create(agent=agent, facts=facts, principal=principal)
    except BatchRefused as flawed:
        flaw = flawed.flaws[0]
        raise ImportRefused(f"{batch[flaw.place].where}: {flaw.field}: {flaw.message}") from None
