"""While the embedder is changed there and back, people and agents write and ask: nothing fails, nothing is lost."""

from collections.abc import Callable
from functools import partial
from itertools import count
from threading import Event
from uuid import UUID

import numpy as np
import pytest
from django.db import connection, transaction

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.embeddings.active_model import EmbeddingModel
from memories.embeddings.backfill import EMBEDDED_MODELS
from memories.embeddings.indexing import document_split
from memories.embeddings.vectors import embed_texts
from memories.models import Document, Entity, Memory, MemoryVersion
from memories.search.features import Weights
from memories.search.memory_search import FoundMemory, find_memories, search_memories, topic_vector
from memories.search.question import parse_question
from memories.services import MemoryFacts, agent_item_update, agent_items_create, memories_create, memory_update
from memories.services.document import documents_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import DEFAULT_LEVEL
from tests.concurrency import at_once
from tests.memories.embeddings.reembedding.embedded_rows import TEXTS, assert_all_in, kept

SPACES = (EmbeddingModel("wordllama:256", 256, "embedding"), EmbeddingModel("wordllama:128", 128, "second_embedding"))
TOPIC = "When does the ferry leave?"
Reembed = Callable[..., str]
Job = Callable[[], int]


@pytest.fixture
def world(agent: Agent, team: Team) -> Agent:
    kept(agent, team, memories=400)
    return agent


def until(over: Event, step: Callable[[int], None]) -> int:
    """Takes the step again and again; returns how often."""
    for number in count():
        if over.is_set():
            return number
        step(number)
    raise AssertionError


def create(agent: Agent, number: int) -> None:
    [memory] = memories_create(
        owner=agent, facts=[MemoryFacts(kind="fact", text=f"New tea number {number}")], principal=SYSTEM
    )
    edit(memory, f"Edited tea number {number}")


def edit_old(agent: Agent, ids: list[UUID], number: int) -> None:
    edit(Memory.objects.get(id=ids[number % len(ids)]), f"{TEXTS[number % 3]} For the {number}th time.")


def edit(memory: Memory, text: str) -> None:
    facts = MemoryFacts(kind="fact", text=text)
    memory_update(memory=memory, expected_version=memory.version, facts=facts, superseded_by=None, principal=SYSTEM)


def keep(agent: Agent, number: int) -> None:
    [entity] = agent_items_create(
        model=Entity, agent=agent, facts=[{"type": "thing", "name": f"thing {number}"}], principal=SYSTEM
    )
    agent_item_update(thing=entity, expected_version=1, changes={"aliases": [f"object {number}"]}, principal=SYSTEM)
    [document] = documents_create(
        agent=agent, facts=[{"path": f"{number}.md", "content": TEXTS[number % 3]}], principal=SYSTEM
    )
    document_split(id_=document.id)


def search(agent: Agent, number: int) -> None:
    vector = topic_vector(TOPIC)
    assert vector is not None
    if number % 2:
        check(find_memories(owner=agent, vector=vector, similar=20, recent=5))
        return
    question = parse_question(TOPIC, vector, agent.today(agent.created))
    with transaction.atomic():  # it takes several statements, which a context reads as of one moment
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        found = search_memories(
            owner=agent, question=question, weights=Weights({"similarity_z": 1.0}), limit=20, recent=5
        )
    check(found)


def check(found: list[FoundMemory]) -> None:
    """All similarities are cosines of one space, and no row is without that has one."""
    assert found
    known = [row for row in found if row.text]
    texts = [TOPIC, *(row.text for row in known)]
    said = [row.similarity for row in known if row.similarity is not None]
    assert len(said) == len(known)
    assert any(np.allclose(said, cosines(space, texts), atol=1e-3) for space in SPACES)


def cosines(space: EmbeddingModel, texts: list[str]) -> list[float]:
    topic, *rows = embed_texts(space, texts, [DEFAULT_LEVEL] * len(texts))
    return [float(np.dot(topic, row)) for row in rows]  # type: ignore[arg-type]


def ask(agent: Agent, team: Team, number: int) -> None:
    profile = ("conversation", "research")[number % 2]
    answer = assemble(
        agent=agent, team=team, asked=AssemblyRequest(topic=f"{TOPIC} {number}", profile=profile), principal=SYSTEM
    )
    assert not answer.assembly.warnings
    assert "ferry" in answer.content


@pytest.mark.deep
def test_writers_and_readers_see_nothing_of_a_change(world: Agent, team: Team, reembed: Reembed) -> None:
    over = Event()
    ids = list(Memory.objects.filter(agent=world).exclude(text="").order_by("id").values_list("id", flat=True))

    def change() -> int:
        try:
            for name in ("wordllama:128", "wordllama:256", "wordllama:128", "wordllama:256"):
                reembed("--to", name)
        finally:
            over.set()
        return 4

    steps = (create, keep, search, search)
    jobs = [partial(until, over, partial(step, world)) for step in steps]
    jobs.append(partial(until, over, partial(edit_old, world, ids)))
    jobs.append(partial(until, over, partial(ask, world, team)))
    done = at_once([change, *jobs])
    _, created, stored, *_, edited, asked = done
    assert all(done), done

    assert_all_in(SPACES[0])
    assert Memory.objects.filter(agent=world, text__startswith="Edited tea").count() == created
    assert MemoryVersion.objects.filter(file__agent=world, version=2).count() >= created
    assert Entity.objects.filter(name__startswith="thing ").count() == stored
    assert Document.objects.exclude(split_version=1).count() == 0
    assert sum(Memory.objects.filter(id__in=ids).values_list("version", flat=True)) == len(ids) + edited
    assert asked
    assert all(model.objects.exists() for model in EMBEDDED_MODELS)
