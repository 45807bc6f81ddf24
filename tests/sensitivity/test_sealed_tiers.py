"""A packed or archived text is sealed when it is raised or withheld, and is as it was when that has ended."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from agents.models import Agent
from config.db.sealed_columns import stored_text_sql
from config.db.statements import fetch_rows
from config.keys.sealed_texts import MARK, is_sealed
from memories.embeddings.indexing import document_split
from memories.lifecycle.plain_texts import plain_text_count
from memories.lifecycle.thing_tables import DOCUMENTS, EVENTS, MEMORIES, THING_TABLES, ThingTable
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import has_plain_text, things_move
from memories.models import Chunk, Document, Event, Memory
from memories.services import MemoryFacts, memory_create, memory_level_set
from memories.services.document import document_update, documents_create
from memories.services.event import events_create
from privacy.subjects.services import subject_restrict
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.client import Api
from tests.privacy.subject_factories import NAME, link_all, scanned_subject

pytestmark = pytest.mark.django_db

TEXT = " ".join(f"{NAME} saw {number} quokkas." for number in range(30))
PACKED = [Tier.WARM, Tier.COLD, Tier.FROZEN]
TABLES = {MEMORIES: Memory, DOCUMENTS: Document, EVENTS: Event}


@pytest.fixture(autouse=True)
def archive(settings: Any, tmp_path: Path) -> None:
    settings.FROZEN_FOLDER = tmp_path


def add_things(agent: Agent, text: str = TEXT) -> dict[ThingTable, Any]:
    """A memory, a document with chunks, and an event."""
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
    [document] = documents_create(agent=agent, facts=[{"path": "zoo.md", "content": text}], principal=SYSTEM)
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": {"text": text}}], principal=SYSTEM)
    split()
    return {MEMORIES: memory.id, DOCUMENTS: document.id, EVENTS: event.id}


def split() -> None:
    """Split the document into chunks, as the job does that its changes have created."""
    document_split(id_=Document.everything.get().id)


def move(things: dict[ThingTable, Any], tier: Tier) -> None:
    for table, id_ in things.items():
        if not (table is EVENTS and tier is Tier.WARM):
            things_move(table, [id_], tier)


def hashes() -> dict[str, str]:
    """The hashes of the texts as they are read."""
    read = {table.kind: str(getattr(TABLES[table]._base_manager.get(), table.column)) for table in THING_TABLES}
    return {kind: hashlib.sha256(text.encode()).hexdigest() for kind, text in read.items()}


def column(table: ThingTable) -> str:
    ((text,),) = fetch_rows(f"SELECT {stored_text_sql(table.column, table.value_type)} FROM {table.name}")  # noqa: S608
    return str(text)


def assert_found(api: Api, agent: Agent) -> None:
    """See that the words of the memory and of the document are found."""
    assert api.get(f"agents/{agent.slug}/memories/search?q=quokkas").json()["results"]
    rows = fetch_rows("SELECT search::text FROM memories UNION ALL SELECT search::text FROM chunks")
    words = [search for (search,) in rows]
    assert len(words) > 1
    assert all("quokka" in one for one in words), words


@pytest.mark.parametrize("tier", PACKED)
def test_what_is_packed_is_sealed_while_it_is_withheld(agent: Agent, admin_api: Api, tier: Tier) -> None:
    things = add_things(agent)
    before = hashes()
    assert_found(admin_api, agent)
    subject = scanned_subject()
    link_all(subject)
    move(things, tier)
    subject = subject_restrict(subject=subject, restricted=True, principal=SYSTEM)
    split()
    assert all(is_sealed(column(table)) for table in things)
    assert all(is_sealed(text) for (text,) in fetch_rows("SELECT text FROM chunks"))
    assert plain_text_count() == 0
    assert hashes() == before
    # The lifecycle packs it again meanwhile.
    move(things, tier)
    assert not any(has_plain_text(table, [id_]) for table, id_ in things.items())
    assert hashes() == before
    subject_restrict(subject=subject, restricted=False, principal=SYSTEM)
    split()
    assert hashes() == before
    assert not any(is_sealed(column(table)) for table in things)
    assert_found(admin_api, agent)


@pytest.mark.parametrize("tier", PACKED)
def test_what_is_packed_is_sealed_when_it_is_raised(agent: Agent, admin_api: Api, tier: Tier) -> None:
    things = add_things(agent)
    del things[EVENTS]
    before = hashes()
    move(things, tier)
    set_levels(Sensitivity.CONFIDENTIAL)
    split()
    assert all(is_sealed(column(table)) for table in things)
    assert all(is_sealed(text) for (text,) in fetch_rows("SELECT text FROM chunks"))
    assert hashes() == before
    move(things, tier)
    assert not any(has_plain_text(table, [id_]) for table, id_ in things.items())
    assert hashes() == before
    set_levels(Sensitivity.INTERNAL)
    split()
    assert hashes() == before
    assert not any(is_sealed(column(table)) for table in things)
    assert_found(admin_api, agent)


def set_levels(level: Sensitivity) -> None:
    memory_level_set(memory=Memory.objects.get(), level=level, principal=SYSTEM)
    document = Document.objects.get()
    changes = {"sensitivity": level}
    document_update(thing=document, expected_version=document.version, changes=changes, principal=SYSTEM)


def test_a_text_that_looks_sealed_by_itself_is_never_opened_twice(agent: Agent) -> None:
    things = add_things(agent, f"{MARK}AAAA {NAME}")
    before = hashes()
    subject = scanned_subject()
    link_all(subject)
    subject = subject_restrict(subject=subject, restricted=True, principal=SYSTEM)
    move(things, Tier.COLD)
    subject_restrict(subject=subject, restricted=False, principal=SYSTEM)
    split()
    assert hashes() == before
    assert Memory.objects.get().text == Chunk.objects.get().text == f"{MARK}AAAA {NAME}"
