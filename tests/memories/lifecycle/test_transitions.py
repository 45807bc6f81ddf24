"""Things in every tier: their texts, their search, and what writes to them do."""

import datetime
import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from agents.models import Agent
from config.db.statements import execute_sql, fetch_rows
from memories.embeddings.indexing import document_split
from memories.lifecycle.frozen_texts import FrozenTextUnreachable
from memories.lifecycle.thing_tables import DOCUMENTS, EVENTS, MEMORIES, THING_TABLES, ThingTable
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Chunk, Document, Event, Memory, MemoryVersion
from memories.search.document_search import search_passages
from memories.search.features import Weights
from memories.search.memory_search import find_memories, search_memories, topic_vector
from memories.search.question import parse_question
from memories.services import (
    MemoryFacts,
    agent_item_update,
    events_create,
    facts_of,
    memories_create,
    memories_of,
    memory_update,
)
from memories.services.document import document_update, documents_create
from memories.services.json_values import compact_json
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

TODAY = datetime.date(2026, 11, 25)
WEIGHTS = Weights({"similarity_z": 0.5, "words_z": 0.6})
LONG = "Ada: The kettle in the kitchen of the second floor takes four minutes to boil. " * 6
QUESTION = "Is the green tea from Uji still in the cupboard beside the window, or did somebody finish it? "


@pytest.fixture(autouse=True)
def frozen_folder(tmp_path: Path, settings: Any) -> Path:
    settings.FROZEN_FOLDER = tmp_path / "frozen"
    return tmp_path / "frozen"


def remember(agent: Agent, *texts: str) -> list[Memory]:
    return memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in texts], principal=SYSTEM)


def write_document(agent: Agent, content: str, path: str = "guide.md") -> Document:
    [document] = documents_create(agent=agent, facts=[{"path": path, "content": content}], principal=SYSTEM)
    document_split(id_=document.id)
    return Document.objects.get(id=document.id)


def record_event(agent: Agent, content: Any) -> Event:
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": content}], principal=SYSTEM)
    return event


def move(table: ThingTable, row: Any, *tiers: Tier) -> None:
    for tier in tiers:
        assert things_move(table, [row.id], tier) == [row.id]


DOWN = (Tier.WARM, Tier.COLD, Tier.FROZEN)
UP = (Tier.COLD, Tier.WARM, Tier.HOT)


def digest(row: Any) -> str:
    text = row.text if isinstance(row, Memory) else row.content
    return hashlib.sha256((text if isinstance(text, str) else compact_json(text)).encode()).hexdigest()


@pytest.mark.deep
def test_a_thousand_things_come_back_as_they_were(agent: Agent) -> None:
    texts = [f"{number}: {QUESTION * (number % 7)} ß 漢字 {'é' * number}" for number in range(400)] + [
        "",
        "short",
        "\x02p",
    ]
    remember(agent, *texts)
    events_create(
        agent=agent,
        facts=[{"type": "message", "content": {"text": text, "n": 1.5, "list": [None, True]}} for text in texts],
        principal=SYSTEM,
    )
    documents_create(
        agent=agent,
        facts=[{"path": f"{place}.md", "content": text * 3} for place, text in enumerate(texts[-203:])],
        principal=SYSTEM,
    )
    for document in Document.objects.all():
        document_split(id_=document.id)
    count, before = 0, {}
    for table in THING_TABLES:
        rows = list(table.model._default_manager.order_by("pk"))
        count += len(rows)
        before[table.kind] = [digest(row) for row in rows]
    chunks = list(Chunk.objects.order_by("document_id", "position").values_list("document_id", "position", "text"))
    assert count >= 1_000
    for tier in (*DOWN, *UP):
        for table in THING_TABLES:
            ids = list(table.model._default_manager.values_list("pk", flat=True))
            assert sorted(things_move(table, ids, tier)) == sorted(ids)
            moved = table.model._default_manager.order_by("pk")
            assert [digest(row) for row in moved] == before[table.kind], (table.kind, tier)
            assert set(moved.values_list("tier", flat=True)) == {tier}
    for document in Document.objects.all():
        document_split(id_=document.id)
    found = Chunk.objects.order_by("document_id", "position").values_list("document_id", "position", "text")
    assert list(found) == chunks


@pytest.mark.parametrize("tier", [Tier.HOT, Tier.WARM])
def test_search_finds_hot_and_warm_memories_alike(agent: Agent, tier: Tier) -> None:
    memories = remember(
        agent, LONG, QUESTION * 3, "Tea", *(f"The bicycle number {place} is red." for place in range(20))
    )
    question = parse_question("How long does the kettle take?", topic_vector("How long does the kettle take?"), TODAY)
    nearest = topic_vector("the green tea from Uji")

    def found() -> Any:
        ranked = search_memories(owner=agent, question=question, weights=WEIGHTS, limit=5, recent=2)
        return ranked, find_memories(owner=agent, vector=nearest, similar=5, recent=2)

    before = found()
    assert before[0][0].text == LONG.strip() or before[0][0].text == LONG
    if tier is not Tier.HOT:
        assert len(things_move(MEMORIES, [memory.id for memory in memories], tier)) == len(memories)
    assert found() == before


def test_recall_is_the_same_where_half_is_warm(agent: Agent) -> None:
    rooms, things = ("kitchen", "cellar", "attic", "library", "garage"), ("kettle", "ladder", "atlas", "bicycle", "tea")
    texts = [
        f"{number}: the {thing} in the {room} is as old as the house itself, and nobody may move it without asking. "
        * 3
        for number in range(6)
        for room in rooms
        for thing in things
    ]
    memories = remember(agent, *texts)
    questions = [f"Who may move the {thing} in the {room}?" for room in rooms for thing in things]
    asked = [parse_question(one, topic_vector(one), TODAY) for one in questions]

    def found() -> list[Any]:
        return [search_memories(owner=agent, question=one, weights=WEIGHTS, limit=10, recent=2) for one in asked]

    before = found()
    assert len(things_move(MEMORIES, [memory.id for memory in memories[::2]], Tier.WARM)) == len(memories) // 2
    assert found() == before


def test_what_a_packed_memory_takes_is_less(agent: Agent) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, Tier.WARM)
    [(text, octets, characters, asks, packed)] = fetch_rows(
        "SELECT text, text_bytes, text_characters, text_asks, octet_length(packed) FROM memories"
    )
    assert (text, octets, characters, asks) == (None, len(LONG.encode()), len(LONG), False)
    assert packed < octets * 0.8


def test_a_cold_memory_has_no_vector_and_no_words(agent: Agent) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, Tier.COLD)
    assert fetch_rows("SELECT embedding, embedding_model, search FROM memories") == [(None, "", None)]
    assert find_memories(owner=agent, vector=topic_vector("kettle"), similar=5, recent=5) == []
    assert memories_of(agent).get().text == LONG
    move(MEMORIES, memory, Tier.WARM)
    again = Memory.objects.get()
    assert again.embedding_model != ""
    assert [one.id for one in find_memories(owner=agent, vector=topic_vector("kettle"), similar=5, recent=0)] == [
        memory.id
    ]


def test_words_of_a_trigger_are_those_that_the_model_declares(agent: Agent) -> None:
    remember(agent, LONG, "Ada: Wie lange dauert es, bis das Wasser kocht und wer hat den Kessel?", "", "no label")
    for table, model in (("memories", Memory), ("chunks", Chunk)):
        sql, parameters = model._meta.get_field("search").generated_sql(connection)
        with connection.cursor() as cursor:
            different = f"SELECT count(*) FROM {table} WHERE search IS DISTINCT FROM ({sql})"  # noqa: S608
            cursor.execute(different, parameters)
            assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("tier", DOWN)
def test_a_written_memory_is_hot_and_searched_again(agent: Agent, tier: Tier) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, tier)
    stored = Memory.objects.get()
    memory_update(
        memory=stored, expected_version=1, facts=facts_of(stored), superseded_by=None, pinned=True, principal=SYSTEM
    )
    saved = Memory.objects.get()
    assert (saved.tier, saved.text, saved.pinned) == (Tier.HOT, LONG, True)
    assert MemoryVersion.objects.order_by("-version")[0].content == LONG
    assert find_memories(owner=agent, vector=topic_vector("kettle"), similar=5, recent=0)[0].similarity is not None


def test_any_statement_that_writes_a_text_makes_it_hot(agent: Agent) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, Tier.WARM)
    Memory.objects.update(text="Short.")
    assert fetch_rows("SELECT tier, text, packed, text_bytes FROM memories") == [("hot", "Short.", None, None)]
    with pytest.raises(IntegrityError), transaction.atomic():
        execute_sql("UPDATE memories SET text = NULL")


def test_a_changed_row_is_not_moved(agent: Agent) -> None:
    [memory] = remember(agent, LONG)
    ids = [memory.id, UUID(int=1)]
    assert things_move(MEMORIES, ids, Tier.HOT) == []
    assert things_move(MEMORIES, ids, Tier.WARM) == [memory.id]
    assert things_move(MEMORIES, ids, Tier.WARM) == []


def test_passages_of_a_warm_document_are_read_from_it(agent: Agent) -> None:
    things = ("kettle", "ladder", "atlas", "bicycle", "tea", "violin", "window", "lamp", "carpet", "telescope")
    parts = [f"## The {thing}\n\n" + f"Whoever needs the {thing} asks Ada. " * 9 + QUESTION * 3 for thing in things]
    document = write_document(agent, "\n\n".join(parts))
    before = list(Chunk.objects.order_by("position"))
    assert len(before) >= len(things)
    found = search_passages(agent=agent, topic="kettle", vector=topic_vector("kettle"), weights=WEIGHTS, limit=5)
    move(DOCUMENTS, document, Tier.WARM)
    assert fetch_rows("SELECT count(*) FROM chunks WHERE text IS NOT NULL") == [(0,)]
    assert [chunk.text for chunk in Chunk.objects.order_by("position")] == [chunk.text for chunk in before]
    again = search_passages(agent=agent, topic="kettle", vector=topic_vector("kettle"), weights=WEIGHTS, limit=5)
    assert [(one.position, one.text) for one in again] == [(one.position, one.text) for one in found]
    for before_it, after_it in zip(found, again, strict=True):
        assert after_it.similarity == pytest.approx(before_it.similarity, abs=5e-4)
        assert after_it.measures == pytest.approx(before_it.measures, abs=5e-3)


def test_a_document_that_is_not_split_yet_stays(agent: Agent) -> None:
    [document] = documents_create(agent=agent, facts=[{"path": "a.md", "content": LONG}], principal=SYSTEM)
    assert things_move(DOCUMENTS, [document.id], Tier.WARM) == []


@pytest.mark.parametrize("tier", DOWN)
def test_a_changed_document_has_all_its_chunks(agent: Agent, tier: Tier) -> None:
    document = write_document(agent, LONG * 9)
    texts = list(Chunk.objects.order_by("position").values_list("text", flat=True))
    move(DOCUMENTS, document, tier)
    stored = Document.objects.get()
    document_update(thing=stored, expected_version=1, changes={"is_open": True}, principal=SYSTEM)
    saved = Document.objects.get()
    assert (saved.tier, saved.content, saved.version) == (Tier.HOT, LONG * 9, 2)
    document_split(id_=document.id)
    assert list(Chunk.objects.order_by("position").values_list("text", flat=True)) == texts


@pytest.mark.parametrize("tier", DOWN)
def test_a_changed_event_is_hot(agent: Agent, tier: Tier) -> None:
    event = record_event(agent, {"text": LONG})
    move(EVENTS, event, tier)
    agent_item_update(thing=event, expected_version=1, changes={"outcome": "done"}, principal=SYSTEM)
    assert (Event.objects.get().tier, Event.objects.get().content) == (Tier.HOT, {"text": LONG})


def test_a_frozen_text_is_gone_with_its_row(agent: Agent, frozen_folder: Path) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, Tier.FROZEN)
    [file] = frozen_folder.iterdir()
    assert b"kettle" not in file.read_bytes()
    kept = json.loads(fetch_rows("SELECT frozen::text FROM memories")[0][0])
    assert kept["sha256"] == hashlib.sha256(LONG.encode()).hexdigest()
    assert (kept["bytes"], kept["name"], kept["store"]) == (len(LONG.encode()), file.name, "files")


def test_a_frozen_text_that_cannot_be_read_is_not_told_wrongly(agent: Agent, frozen_folder: Path) -> None:
    [memory] = remember(agent, LONG)
    move(MEMORIES, memory, Tier.FROZEN)
    [file] = frozen_folder.iterdir()
    file.write_bytes(bytes(file.stat().st_size))
    with pytest.raises(FrozenTextUnreachable):
        Memory.objects.get()
    file.unlink()
    with pytest.raises(FrozenTextUnreachable):
        Memory.objects.get()
    assert Memory.objects.defer("text").get().tier == Tier.FROZEN
