"""`reembed` fills, indexes and switches; what goes wrong switches nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection, connections

from agents.models import Agent
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.services import RecallFacts, recall_test_create
from assembly.records.change_counters import load_change_counts
from config.db.migration_helpers import ORGANISATION
from memories.embeddings.active_model import EmbeddingModel, read_active_model
from memories.embeddings.indexing import embed_missing, reindex
from memories.embeddings.reembedding import begin_change, index_name, reembedding_lock
from memories.embeddings.registry import find_embedder
from memories.models import EmbeddingSpace, Job, Memory
from memories.search.candidate_sql import BY_INDEX
from memories.search.memory_search import find_memories, topic_vector
from memories.services import MemoryFacts, memories_create, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from tests.client import Api, problem
from tests.http_endpoints import Handler, closed_port, giving, serving
from tests.memories.embeddings.reembedding.embedded_rows import all_rows, assert_all_in, kept

FIRST = EmbeddingModel("wordllama:256", 256, "embedding")
SMALL = EmbeddingModel("wordllama:128", 128, "second_embedding")
Reembed = Callable[..., str]


def indexes() -> dict[str, str]:
    """The indexes on meaning that are whole, and what they were built for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, obj_description(oid, 'pg_class') FROM pg_class JOIN pg_index ON indexrelid = oid"
            " WHERE relname LIKE 'memory%%meaning' AND indisvalid"
        )
        return dict(cursor.fetchall())


def edit(memory: Memory, text: str) -> Memory:
    facts = MemoryFacts(kind=memory.kind, text=text)
    return memory_update(
        memory=memory, expected_version=memory.version, facts=facts, superseded_by=None, principal=SYSTEM
    )


def test_there_and_back_again(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    assert_all_in(FIRST)
    before, count = load_change_counts(ORGANISATION), len(all_rows())
    assert reembed("--status") == "In use: wordllama:256, 256 dimensions; all rows have its vectors.\n"
    said = reembed("--to", "wordllama:128")
    assert f"Embedding with wordllama:128: {count} of {count}" in said
    assert "In use now: wordllama:128." in said
    assert_all_in(SMALL)
    assert indexes() == {index_name("embedding"): FIRST.model, index_name("second_embedding"): SMALL.model}
    assert load_change_counts(ORGANISATION) > before, "no cached context outlives it"
    assert {row.embedding_model for row in all_rows()} == {FIRST.model}, "who reads the former slot still finds it"

    changed = edit(Memory.objects.filter(text__startswith="Tea").order_by("id")[0], "Coffee is ready.")
    assert (changed.embedding, changed.embedding_model) == (None, ""), "its former vector was of another text"
    said = reembed("--to", "wordllama")
    assert "Embedding with wordllama:256: 1 of 1" in said
    assert_all_in(FIRST)


def test_the_switch_queues_the_recall_tests(agent: Agent, reembed: Reembed) -> None:
    facts = RecallFacts(name="Tea", topic="tea", expectations=[Expectation("include", text="tea")])
    recall_test_create(agent=agent, team=None, facts=facts, principal=SYSTEM)
    reembed("--to", "wordllama:128")
    (job,) = Job.objects.filter(kind="run_recall_tests")
    assert job.arguments == {"embedder": "wordllama:128"}


def test_what_is_forgotten_leaves_nothing(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    reembed("--to", "wordllama:128")
    assert "Nothing of another embedder is left." in reembed("--forget-old")
    assert {(row.embedding_model, row.embedding) for row in all_rows()} == {("", None)}
    assert list(indexes()) == [index_name("second_embedding")]
    assert_all_in(SMALL)
    reembed("--to", "wordllama:64")
    assert_all_in(EmbeddingModel("wordllama:64", 64, "embedding"))
    assert set(indexes().values()) == {"wordllama:64", "wordllama:128"}


def test_the_index_serves_the_new_space(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    reembed("--to", "wordllama:128")
    vector = topic_vector("Is the tea ready?")
    assert vector is not None
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
        names = {"slot": SMALL.slot, "dimensions": SMALL.dimensions}
        cursor.execute(
            f"EXPLAIN SELECT id FROM memories WHERE {SMALL.here} ORDER BY {BY_INDEX.format(**names)} LIMIT 5",  # noqa: S608
            vector.parameters,
        )
        assert index_name(SMALL.slot) in str(cursor.fetchall())
        cursor.execute("RESET ALL")


def test_a_change_that_was_interrupted_goes_on_or_gives_way(agent: Agent, team: Team, reembed: Reembed) -> None:
    kept(agent, team)
    begin_change(find_embedder("wordllama:128"))
    count = len(all_rows())
    assert f"A change to wordllama:128 was begun; {count} rows lack its vectors." in reembed("--status")
    told = reembed("--to", "wordllama:64")
    assert "The change to wordllama:128 that was begun is given up." in told
    assert_all_in(EmbeddingModel("wordllama:64", 64, "second_embedding"))
    assert EmbeddingSpace.objects.get().next_model == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("word2vec", "There is no embedder “word2vec”"),
        ("wordllama:256", "wordllama:256 is in use already"),
        ("wordllama", "wordllama:256 is in use already"),
        ("fastembed:BAAI/bge-small-en-v1.5", "pip install fastembed"),
        ("openai:tiny-1", "Set EMBEDDER_URL"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_begun(name: str, says: str, agent: Agent, reembed: Reembed) -> None:
    with pytest.raises(CommandError, match=says):
        reembed("--to", name)
    assert (read_active_model(), EmbeddingSpace.objects.get().next_model) == (FIRST, "")


def test_only_one_changes_it(reembed: Reembed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memories.embeddings.reembedding.PATIENCE_SECONDS", 0.1)
    other = connections.create_connection("owner")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(7301002)")
        for arguments in (("--to", "wordllama:128"), ("--forget-old",)):
            with pytest.raises(CommandError, match="Another process is changing the embedder"):
                reembed(*arguments)
    other.close()
    reembed("--to", "wordllama:128")
    with reembedding_lock():
        assert read_active_model() == SMALL


# --- a model on a server --------------------------------------------------------------------------------------------

DIMENSIONS = 300


def embedding(handler: Handler) -> None:
    """Vectors by the letters of the texts."""
    rows = [[float(1 + text.count(chr(97 + place % 26))) for place in range(DIMENSIONS)] for text in _asked(handler)]
    giving({"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]})(handler)


def _asked(handler: Handler) -> list[str]:
    asked: list[str] = handler.endpoint.seen[-1].body["input"]
    return asked


def failing_at(number: int) -> Callable[[Handler], None]:
    """Answers until so many requests came."""
    return lambda handler: embedding(handler) if len(handler.endpoint.seen) < number else handler.answer(b"", 500)


def test_a_server_that_fails_in_the_middle_leaves_all_as_it_was(
    agent: Agent, team: Team, reembed: Reembed, settings: Any
) -> None:
    kept(agent, team, memories=150)
    with serving(failing_at(4)) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        with pytest.raises(CommandError, match="answered 500"):
            reembed("--to", "openai:tiny-1")
    assert_all_in(FIRST)
    assert found(agent, "When does the ferry leave?")[0].startswith("The ferry")
    with serving(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        reembed("--to", "openai:tiny-1")
        assert_all_in(EmbeddingModel("openai:tiny-1", DIMENSIONS, "second_embedding"))
        assert found(agent, "The ferry leaves at nine. 0")[0] == "The ferry leaves at nine. 0"


def test_while_the_server_is_away_no_write_is_lost(
    agent: Agent, reembed: Reembed, settings: Any, agent_api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        reembed("--to", "openai:tiny-1")
    settings.EMBEDDER_URL = f"http://127.0.0.1:{closed_port()}/v1"
    assert problem(agent_api.get("/api/v1/agents/ada/memories/search?q=ferry")) == (503, "embedder_failed")
    assert topic_vector("ferry") is None, "a context without what is found by meaning is better than none"
    memories_written(agent, "Nobody loses what is written now.")
    assert "1 rows are saved without vectors: The embedding server could not be reached." in caplog.text
    assert "1 rows lack its vectors" in reembed("--status")
    with serving(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        embed_missing(reindex(agent=agent, principal=SYSTEM), lambda _: None)
        assert_all_in(EmbeddingModel("openai:tiny-1", DIMENSIONS, "second_embedding"))


def memories_written(agent: Agent, *texts: str) -> list[Memory]:
    return memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in texts], principal=SYSTEM)


def found(agent: Agent, topic: str) -> list[str]:
    vector = topic_vector(topic)
    assert vector is not None
    return [row.text for row in find_memories(owner=agent, vector=vector, similar=5, recent=0)]
