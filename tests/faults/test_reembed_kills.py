"""`reembed` is killed in the middle: all goes on with the former embedder, and started again it finishes."""

from collections.abc import Iterator

import pytest
from django.db import connection

from agents.models import Agent
from memories.embeddings.active_model import EmbeddingModel, last_known_model, read_active_model, remember_model
from memories.models import EmbeddingSpace, Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.faults.processes import until
from tests.faults.worker import Command
from tests.memories.embeddings.reembedding.embedded_rows import assert_all_in, kept

pytestmark = [pytest.mark.deep, pytest.mark.faults, pytest.mark.usefixtures("committed_database")]

FIRST = EmbeddingModel("wordllama:256", 256, "embedding")
SMALL = EmbeddingModel("wordllama:128", 128, "second_embedding")
MEMORIES = 6_000


@pytest.fixture(autouse=True)
def belief() -> Iterator[None]:
    before = last_known_model()
    yield
    remember_model([before.model, str(before.dimensions), before.slot])


def _filled() -> int:
    return Memory.objects.filter(second_embedding_model=SMALL.model).count()


def _indexing() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_stat_progress_create_index)")
        return bool(cursor.fetchone()[0])


def test_a_change_survives_kills_while_it_fills_and_while_it_indexes(agent: Agent, team: Team) -> None:
    kept(agent, team)
    facts = [MemoryFacts(kind="fact", text=f"Parcel {number} goes to bay {number % 97}.") for number in range(MEMORIES)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    count = Memory.objects.count()

    filling = Command("reembed", "--to", "wordllama:128")
    until(lambda: _filled() > 400, seconds=60)
    filling.kill()
    done = _filled()
    assert 400 < done < count
    assert (read_active_model(), EmbeddingSpace.objects.get().next_model) == (FIRST, SMALL.model)

    indexing = Command("reembed", "--to", "wordllama:128")
    until(lambda: _filled() > done and _indexing(), seconds=120)
    indexing.kill()
    assert read_active_model() == FIRST
    assert _filled() == count
    assert_all_in(FIRST)

    last = Command("reembed", "--to", "wordllama:128")
    assert "Error" not in last.end()
    assert last.process.returncode == 0
    assert_all_in(SMALL)
    assert Memory.objects.count() == count
