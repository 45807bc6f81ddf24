"""A process that has not heard of a change finds out by the statement with which it searches or writes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from agents.models import Agent
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.embeddings.active_model import EmbeddingModel, last_known_model, read_active_model, remember_model
from memories.embeddings.backfill import fill_vectors
from memories.models import Chunk, Memory, Tool
from memories.search import candidates
from memories.search.document_search import search_passages
from memories.search.features import Weights
from memories.search.memory_search import find_memories, search_memories, topic_vector
from memories.search.question import parse_question
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import ask, gather_context
from tests.memories.embeddings.reembedding.embedded_rows import assert_all_in, kept

FIRST = EmbeddingModel("wordllama:256", 256, "embedding")
SMALL = EmbeddingModel("wordllama:128", 128, "second_embedding")
TOPIC = "Is the tea ready in the kitchen?"
Reembed = Callable[..., str]


@pytest.fixture
def stale(agent: Agent, team: Team, reembed: Reembed) -> Agent:
    """The embedder was changed, and this process does not know."""
    kept(agent, team)
    reembed("--to", "wordllama:128")
    remember_model([FIRST.model, str(FIRST.dimensions), FIRST.slot])
    return agent


def plain(agent: Agent) -> list[float | None]:
    return [row.similarity for row in find_memories(owner=agent, vector=topic_vector(TOPIC), similar=9, recent=0)]


def ranked(agent: Agent) -> list[float | None]:
    question = parse_question(TOPIC, topic_vector(TOPIC), NOW.date())
    found = search_memories(owner=agent, question=question, weights=Weights({"similarity_z": 1.0}), limit=9, recent=0)
    return [row.similarity for row in found]


def of_source(name: str) -> Callable[[Agent], list[float | None]]:
    def search(agent: Agent) -> list[float | None]:
        asked = gather_context(agent, TOPIC)
        return [candidate.similarity for candidate in ask(name, asked).candidates]

    return search


def ranked_passages(agent: Agent) -> list[float | None]:
    weights = Weights({"similarity_z": 1.0})
    found = search_passages(agent=agent, topic=TOPIC, vector=topic_vector(TOPIC), weights=weights, limit=9)
    return [passage.similarity for passage in found]


@pytest.mark.parametrize(
    "search",
    [plain, ranked, of_source("tools"), of_source("semantic_content"), ranked_passages],
    ids=["plain", "ranked", "tools", "chunks", "ranked chunks"],
)
def test_who_searches_searches_again_in_the_new_space(
    search: Callable[[Agent], list[float | None]], stale: Agent
) -> None:
    first = search(stale)
    assert last_known_model() == SMALL
    assert first == search(stale)
    assert first
    assert None not in first


def test_many_rows_are_searched_by_the_index_of_the_new_space(
    stale: Agent, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    for name, value in (("EXACT_ROWS", 5), ("NEWEST", 5), ("MAX_NEIGHBOURHOODS", 0)):
        monkeypatch.setattr(candidates, name, value)
    first = ranked(stale)
    assert last_known_model() == SMALL
    assert first == ranked(stale)
    remember_model([FIRST.model, "256", FIRST.slot])


def test_a_change_within_a_snapshot_is_none(stale: Agent, reembed: Reembed) -> None:
    vector = topic_vector(TOPIC)
    assert vector is not None
    assert vector.space == FIRST
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        before = [row.similarity for row in find_memories(owner=stale, vector=vector, similar=9, recent=0)]
        remember_model([FIRST.model, "256", FIRST.slot])  # as another request of this process may have been told since
        again = [row.similarity for row in find_memories(owner=stale, vector=vector, similar=9, recent=0)]
    assert before == again


def test_who_writes_writes_in_the_new_space(stale: Agent) -> None:
    memory_create(owner=stale, facts=MemoryFacts(kind="fact", text="Written after the change."), principal=SYSTEM)
    assert last_known_model() == SMALL
    assert_all_in(SMALL)


def test_where_the_former_embedder_is_gone_the_new_one_is_asked(stale: Agent, django_assert_num_queries: Any) -> None:
    remember_model(["openai:tiny-1", "2", "embedding"])  # whose server is not even configured any more
    with django_assert_num_queries(1):
        vector = topic_vector(TOPIC)
    assert vector is not None
    assert vector.space == last_known_model() == SMALL
    with django_assert_num_queries(0):
        topic_vector(TOPIC)


def test_no_cached_context_outlives_a_change(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    asked = AssemblyRequest(topic=TOPIC, now=NOW)
    first = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    again = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    assert again.decisions is first.decisions, "from the cache"
    reembed("--to", "wordllama:128")
    changed = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    assert changed.decisions is not first.decisions
    assert changed.decisions != first.decisions, "128 dimensions weigh otherwise"


def test_a_slot_that_others_need_is_not_overwritten(agent: Agent, team: Team, reembed: Reembed) -> None:
    """As by a job that was asleep while the embedder was changed twice."""
    kept(agent, team)
    reembed("--to", "wordllama:128")
    reembed("--to", "wordllama:64")
    assert read_active_model() == EmbeddingModel("wordllama:64", 64, "embedding")
    for model in (Memory, Chunk, Tool):
        fill_vectors(model.objects.all(), FIRST, lambda _: None)
    assert_all_in(read_active_model())
