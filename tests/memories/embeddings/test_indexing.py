"""Missing embeddings are made; several workers with one document leave its chunks once."""

from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.models import Agent
from memories.embeddings.backfill import BATCH_ROWS
from memories.embeddings.indexing import document_split, embed_missing
from memories.embeddings.splitting import split_text
from memories.embeddings.wordllama import MODEL_NAME
from memories.models import Chunk, Document, Entity, Job, Memory, Tool
from memories.services import MemoryFacts, agent_items_create, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.concurrency import at_once

OTHER = {"embedding": None, "embedding_model": "another:model"}


def facts(number: int) -> list[MemoryFacts]:
    return [MemoryFacts(kind="fact", text=f"Tea number {place}") for place in range(number)]


def vectors(model: Any) -> list[list[float]]:
    return [list(row.embedding) for row in model.objects.order_by("id")]


@pytest.mark.django_db
def test_what_has_no_embedding_of_this_model_gets_one(agent: Agent, team: Team) -> None:
    memories_create(owner=agent, facts=[*facts(BATCH_ROWS + 1), MemoryFacts(kind="fact", text="")], principal=SYSTEM)
    memories_create(owner=team, facts=facts(1), principal=SYSTEM)
    agent_items_create(model=Entity, agent=agent, facts=[{"type": "drink", "name": "Tea"}], principal=SYSTEM)
    agent_items_create(model=Tool, agent=agent, facts=[{"name": "brew", "description": "Makes tea"}], principal=SYSTEM)
    before = [vectors(Entity), vectors(Tool)]
    for model in (Memory, Entity, Tool):
        model.objects.update(**OTHER)

    call_command("reindex", "--agent", agent.slug)
    job = Job.objects.get()
    steps: list[int] = []
    embed_missing(job, steps.append)
    assert job.steps == sum(steps) == BATCH_ROWS + 4
    assert set(Memory.objects.filter(agent=agent).values_list("embedding_model")) == {(MODEL_NAME,)}
    assert list(Memory.objects.filter(agent=agent, embedding=None).values_list("text", flat=True)) == [""]
    assert Memory.objects.get(team=team).embedding is None
    assert [vectors(Entity), vectors(Tool)] == before
    steps.clear()
    embed_missing(job, steps.append)  # a text without known words is tried each time
    assert steps == [1]


@pytest.mark.django_db
def test_without_an_agent_named_everybodys_are_made(agent: Agent, team: Team, capsys: Any) -> None:
    memories_create(owner=team, facts=facts(2), principal=SYSTEM)
    Memory.objects.update(**OTHER)
    call_command("reindex")
    assert "ada: 0 to embed" in (said := capsys.readouterr().out)
    assert "memories of teams: 2 to embed" in said
    for job in Job.objects.all():
        embed_missing(job, lambda _: None)
    assert not Memory.objects.filter(embedding=None).exists()


@pytest.mark.django_db
def test_an_unknown_agent_is_named() -> None:
    with pytest.raises(CommandError, match="There is no agent “nobody”"):
        call_command("reindex", "--agent", "nobody")


@pytest.mark.usefixtures("committed_database")
def test_several_workers_with_one_document_leave_its_chunks_once(agent: Agent) -> None:
    text = "Tea is ready. " * 2_000
    document = Document.objects.create(agent=agent, path="tea.txt", content=text)
    at_once([partial(document_split, id_=document.id)] * 4)
    expected = [piece.text for piece in split_text(path="tea.txt", language="", text=text)]
    assert list(Chunk.objects.order_by("position").values_list("text", flat=True)) == expected
