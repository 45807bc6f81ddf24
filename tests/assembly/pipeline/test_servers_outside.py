"""Servers for summaries and for vectors are sent nothing above the level that the operator has set."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from agents.models import Agent, AgentFile
from assembly.engine.detail_levels import EXTRACTIVE_LEVELS
from assembly.models import StoredProfile, TextLevel
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.level_derivation import item_levels_derive
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.warnings import warnings_of
from memories.api.urls import ENDPOINTS
from memories.embeddings.active_model import last_known_model, read_active_model, remember_model
from memories.embeddings.file_splitting import file_split
from memories.embeddings.indexing import document_split, embed_missing, reindex
from memories.models import Chunk, EmbeddingSpace, Entity, Event, FilePassage, Memory, Session, TaskFrame
from memories.services import MemoryFacts, memory_create, memory_level_set
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.versioned_text.versioned_file import file_create, file_save
from tests.assembly.conftest import NOW
from tests.assembly.pipeline.summaries.summary_factories import TEXT, saying
from tests.http_endpoints import Endpoint, Handler, giving, serving

pytestmark = pytest.mark.django_db

MARKER = "Quokka-4711"
RESTRICTED = Sensitivity.RESTRICTED
SAID = "The walk leads from the quay to the lighthouse and back."
PROFILE = """
budget: 600
over_budget: [summarise]
sections:
  - {key: identity, heading: Identity, layer: L1, source: agent_files, shape: text, required: true}
  - {key: results, heading: Tool Results, layer: L6, source: tool_results, shape: blocks}
"""


def add(agent: Agent, noun: str, **facts: Any) -> Any:
    creates = next(one.creates for one in ENDPOINTS if one.name == noun)
    return creates(agent=agent, facts=[facts], principal=SYSTEM)[0]


def arrived(endpoint: Endpoint) -> str:
    """All that the server was sent."""
    return json.dumps([one.body for one in endpoint.seen])


def embedding(handler: Handler) -> None:
    texts = handler.endpoint.seen[-1].body["input"]
    giving({"data": [{"index": place, "embedding": [1.0, 0.0, 0.0]} for place in range(len(texts))]})(handler)


@pytest.fixture
def cleared(luna: Agent) -> Agent:
    luna.clearance = RESTRICTED
    luna.save(update_fields=["clearance"])
    return luna


@pytest.fixture
def embedder(settings: Any) -> Iterator[Endpoint]:
    """A server that embeds, and is in use."""
    before = last_known_model()
    EmbeddingSpace.objects.update(model="openai:tiny-1", dimensions=3)
    read_active_model()
    with serving(embedding) as endpoint:
        settings.EMBEDDER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        yield endpoint
    remember_model([before.model, str(before.dimensions), before.slot])


@pytest.fixture
def summariser(settings: Any) -> Iterator[Endpoint]:
    settings.SUMMARISER_MODEL = "tiny-1"
    with serving(saying(SAID)) as endpoint:
        settings.SUMMARISER_URL = f"http://127.0.0.1:{endpoint.port}/v1"
        yield endpoint


def a_memory(agent: Agent, level: Sensitivity, text: str) -> Memory:
    return memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text, sensitivity=level), principal=SYSTEM)


def told(agent: Agent, **wishes: Any) -> AssemblyResult:
    asked = AssemblyRequest(now=NOW, budgets=RequestBudgets(time_ms=5_000), **wishes)
    return assemble(agent=agent, asked=asked, principal=SYSTEM)


def test_the_embedder_is_sent_no_sensitive_text_in_any_way(cleared: Agent, embedder: Endpoint) -> None:
    secret = a_memory(cleared, RESTRICTED, f"The vault: {MARKER}.")
    plain = a_memory(cleared, Sensitivity.INTERNAL, "The ferry leaves at nine.")
    entity = add(cleared, "entities", name=f"{MARKER} Ltd", type="firm", sensitivity=RESTRICTED)
    document = add(cleared, "documents", path="a.md", content=f"# Vault\n\n{MARKER}", sensitivity=RESTRICTED)
    document_split(id_=document.id)
    file = AgentFile.objects.get(agent=cleared, file_key="KNOWLEDGE")
    file = file_save(
        file=file,
        content=f"The vault: {MARKER}.",
        expected_version=file.version,
        author=SYSTEM.author,
        sensitivity=RESTRICTED,
    )
    file_split(kind="agent_file", id_=file.id)
    job = reindex(agent=cleared, principal=SYSTEM)
    embed_missing(job, lambda _: None)
    assert "ferry" in arrived(embedder)
    assert MARKER not in arrived(embedder)
    assert [Memory.objects.get(id=one.id).embedding is None for one in (secret, plain)] == [True, False]
    passages: list[Any] = [*Chunk.objects.filter(document=document), *FilePassage.objects.filter(file_id=file.id)]
    assert [one.embedding for one in (*passages, Entity.objects.get(id=entity.id))] == [None] * 3
    found = told(cleared, topic="When does the ferry leave?")
    assert MARKER in found.content
    assert MARKER not in arrived(embedder)
    memory_level_set(memory=secret, level=Sensitivity.INTERNAL, principal=SYSTEM)
    assert MARKER in arrived(embedder), "what is lowered is embedded"
    assert Memory.objects.get(id=secret.id).embedding is not None


def test_a_sensitive_topic_is_not_embedded_and_the_context_says_so(cleared: Agent, embedder: Endpoint) -> None:
    a_memory(cleared, Sensitivity.INTERNAL, "The ferry leaves at nine.")
    answer = told(cleared, topic=f"{MARKER} and the ferry", sensitivity=RESTRICTED)
    assert "The ferry leaves at nine." in answer.content, "by its words"
    assert MARKER not in arrived(embedder)
    assert "not asked" not in answer.content.lower()
    [report] = [one for one in answer.assembly.sources if one["name"] == "embedder"]
    assert report["code"] == "SOURCE_NOT_ASKED"
    assert report["fault"] == "The topic is restricted, and the embedding server is sent nothing above internal."
    sentence = "The embedder was not sent the topic, so items were found by words and dates only."
    assert [one.message for one in warnings_of(answer.assembly)] == [sentence]


def test_the_goal_of_a_sensitive_task_is_no_topic_for_the_embedder(cleared: Agent, embedder: Endpoint) -> None:
    TaskFrame.objects.create(agent=cleared, goal=f"Open {MARKER}", depth=0, sensitivity=RESTRICTED)
    answer = told(cleared, profile="stack")
    assert MARKER in answer.content
    assert MARKER not in arrived(embedder)


def test_an_operator_can_permit_more(cleared: Agent, embedder: Endpoint, settings: Any) -> None:
    settings.EMBEDDER_SENSITIVITY = "restricted"
    assert a_memory(cleared, RESTRICTED, f"The vault: {MARKER}.").embedding is not None
    assert told(cleared, topic=f"{MARKER} and the ferry", sensitivity=RESTRICTED).assembly.warnings == []
    settings.EMBEDDER_SENSITIVITY = "public"
    assert a_memory(cleared, Sensitivity.INTERNAL, "The ferry leaves at nine.").embedding is None


def test_the_summariser_is_sent_no_sensitive_text(cleared: Agent, summariser: Endpoint) -> None:
    file_create(file=StoredProfile(name="short", content=PROFILE), author=SYSTEM.author)
    session = Session.objects.create(agent=cleared, started_at=NOW)
    for number, level in enumerate([RESTRICTED, Sensitivity.INTERNAL, Sensitivity.INTERNAL]):
        walk = MARKER if level is RESTRICTED else "Walk"
        Event.objects.create(
            agent=cleared, session=session, type="tool_result", tool="walks", size=900, occurred_at=NOW,
            content={"output": f"{walk} {number}. {TEXT * 8}"}, sensitivity=level,
        )  # fmt: skip
    answer = told(cleared, topic="The harbour walk", profile="short")
    assert SAID in answer.content
    assert MARKER in answer.content, "an extract"
    assert "Walk 1" in arrived(summariser)
    assert MARKER not in arrived(summariser)
    [report] = [one for one in answer.assembly.sources if one["name"] == "summariser"]
    assert report["code"] == "SOURCE_NOT_ASKED"
    assert report["fault"] == "It is sent nothing above internal, which 1 texts are."


def test_levels_of_detail_are_not_asked_for_in_the_background(
    cleared: Agent, summariser: Endpoint, client: Any
) -> None:
    secret = a_memory(cleared, RESTRICTED, f"{MARKER}. {TEXT * 8}")
    plain = a_memory(cleared, Sensitivity.INTERNAL, f"Plain. {TEXT * 8}")
    for memory in (secret, plain):
        item_levels_derive(kind="memory", id_=memory.id)
    derivers: dict[UUID, set[str]] = {one.item: set() for one in TextLevel.objects.all()}
    for one in TextLevel.objects.all():
        derivers[one.item].add(one.deriver)
    assert derivers == {secret.id: {EXTRACTIVE_LEVELS}, plain.id: {EXTRACTIVE_LEVELS, "tiny-1@1"}}
    assert "Plain." in arrived(summariser)
    assert MARKER not in arrived(summariser)
