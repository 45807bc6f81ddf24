"""Storing records: all or nothing, in batches, and only what is new."""

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from agents.models import Agent
from memories.importing import Advance, ImportRefused, agent_to_fill
from memories.models import Document
from memories.records.folder import Records
from memories.records.kinds import KINDS, LineKind
from memories.records.naming import facts_named, generations
from memories.records.reading import Record
from memories.services import Facts, Flawed
from memories.services.document import DOCUMENTS_PER_JOB, document_update, documents_create
from teams.files import locked
from teams.principal import Principal

NOW = datetime.datetime.max.replace(tzinfo=datetime.UTC)
"""Where an event without a time stands among others: it happens while it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """How many things were new, by the names of their kinds, and how many documents got a new version."""

    new: Mapping[str, int]
    changed_documents: int


@transaction.atomic
def records_import(*, records: Records, agent: str, principal: Principal, advance: Advance) -> Stored:
    """Store a folder's records for the agent, a slug, which is made when missing. All or nothing.

    What is there already, by its external id, stays as it is; a document with the same path gets the text as its next
    version. Raises ImportRefused.
    """
    if not records.size:
        raise ImportRefused(f"There is nothing to import for {agent}; name a folder with events.jsonl or documents/.")
    owner = locked(agent_to_fill(agent))  # two imports at once take turns
    new = {kind.noun.name: _lines_store(owner, kind, records, principal, advance) for kind in KINDS}
    new["documents"] = changed = 0
    for batch in _batches(records.documents, DOCUMENTS_PER_JOB):
        created, updated = _documents_store(owner, batch, principal)
        new["documents"] += created
        changed += updated
        advance(len(batch))
    return Stored(new=new, changed_documents=changed)


def _lines_store(agent: Agent, kind: LineKind, records: Records, principal: Principal, advance: Advance) -> int:
    new = 0
    for group in _groups(kind, records.lines[kind.noun.name]):
        for batch in _batches(group, kind.per_batch):
            facts = facts_named(kind.noun.name, agent, batch)
            new += len(_created(kind.noun.creates, agent, facts, batch, principal))
            advance(len(batch))
    return new


def _groups(kind: LineKind, records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """The records in the order in which they can be stored."""
    if kind.noun.name == "tasks":
        yield from generations(records)
    elif kind.noun.name == "events":
        # A session that is made for its events began with the first of them, which may stand anywhere in the file.
        yield sorted(records, key=lambda record: record.facts.get("occurred_at") or NOW)
    else:
        yield records


def _batches(records: Sequence[Record], size: int) -> Iterator[Sequence[Record]]:
    for start in range(0, len(records), size):
        yield records[start : start + size]


def _documents_store(agent: Agent, batch: Sequence[Record], principal: Principal) -> tuple[int, int]:
    """How many documents were new, and how many had another text."""
    known = {document.path: document for document in _documents_there(agent, batch)}
    fresh = [record for record in batch if record.facts["path"] not in known]
    _created(documents_create, agent, [record.facts for record in fresh], fresh, principal)
    changed = 0
    for record in batch:
        document = known.get(record.facts["path"])
        if document and document.content != record.facts["content"]:
            changes = {"content": record.facts["content"]}
            document_update(thing=document, expected_version=document.version, changes=changes, principal=principal)
            changed += 1
    return len(fresh), changed


def _documents_there(agent: Agent, batch: Sequence[Record]) -> Sequence[Document]:
    paths = [record.facts["path"] for record in batch]
    return list(Document.objects.filter(agent=agent, path__in=paths).select_for_update(no_key=True))


def _created(
    create: Callable[..., list[Any]],
    agent: Agent,
    facts: Sequence[Facts],
    batch: Sequence[Record],
    principal: Principal,
) -> list[Any]:
    """What was new. Raises ImportRefused, which names the line or file of the first flaw."""
    try:
        return create(agent=agent, facts=facts, principal=principal)
    except Flawed as flawed:
        flaw = flawed.flaws[0]
        raise ImportRefused(f"{batch[flaw.place].where}: {flaw.field}: {flaw.message}") from None
