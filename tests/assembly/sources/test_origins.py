"""Each candidate says where its text comes from, and so do the decisions of a context."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import daily_log_append
from assembly.sources.base import ConversationTurn
from memories.models import TaskFrame
from memories.services import MemoryFacts, agent_items_create, memory_create, memory_update
from teams.models import Team
from teams.principal import SYSTEM, Principal
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import found, gather_context
from tests.client import Api

pytestmark = pytest.mark.django_db

KEY = Principal(kind="agent_key", name="Luna's key")


def by_source(agent: Agent, source: str, *keys: str, **facts: Any) -> set[str | None]:
    return {candidate.origin for candidate in found(source, gather_context(agent, **facts), *keys)}


def test_files_logs_and_memories_say_where_they_come_from(luna: Agent, demo_team: Team) -> None:
    file = luna.files.get(file_key="KNOWLEDGE")
    file.origin = "agent"
    file.save()
    assert by_source(luna, "agent_files", "identity") == {"person"}
    assert by_source(luna, "agent_files", "knowledge") == {"agent"}
    assert by_source(luna, "daily_logs") == {"person"}
    daily_log_append(agent=luna, date=NOW.date(), text="Went home.", principal=KEY)
    assert by_source(luna, "daily_logs") == {"agent"}
    memory_create(owner=luna, facts=MemoryFacts(kind="fact", text="Ferries leave at nine."), principal=KEY)
    for topic in ("", "When do ferries leave?"):
        told = found("agent_memories", gather_context(luna, topic))
        origins = {one.text: one.origin for one in told}
        assert origins == {"Bullet points": "person", "Ferries leave at nine.": "agent"}


def test_what_a_ranker_finds_says_where_it_comes_from(luna: Agent) -> None:
    from assembly.profiles.catalogue import find_profile

    memory_create(owner=luna, facts=MemoryFacts(kind="fact", text="Ferries leave at nine."), principal=KEY)
    profile = find_profile("conversation")
    told = found("agent_memories", gather_context(luna, "When do ferries leave?", ranker=profile.ranker))
    assert {one.text: one.origin for one in told}["Ferries leave at nine."] == "agent"


ITEMS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "recent_events": ("Event", {"type": "message", "content": {"text": "Tea?"}}, {}),
    "tool_results": ("Event", {"type": "tool_result", "tool": "search", "content": {"hits": 9}}, {}),
    "entities": ("Entity", {"type": "Person", "name": "Luna"}, {}),
    "patterns": ("Pattern", {"name": "Rain", "guidance": "Go inside.", "keywords": ["rain"]}, {"topic": "rain"}),
    "open_files": ("Document", {"path": "a.md", "content": "Text.", "is_open": True}, {}),
    "threads": ("Thread", {"title": "Tea", "touched_at": NOW}, {}),
    "tools": ("Tool", {"name": "search"}, {}),
}


@pytest.mark.parametrize("source", ITEMS)
@pytest.mark.parametrize("principal", [SYSTEM, KEY])
def test_items_say_where_they_come_from(luna: Agent, source: str, principal: Principal) -> None:
    from memories import models

    name, facts, wishes = ITEMS[source]
    agent_items_create(model=getattr(models, name), agent=luna, facts=[facts], principal=principal)
    expected = "tool" if source == "tool_results" else principal.author.origin
    assert by_source(luna, source, **wishes) == {expected}


def test_relations_passages_and_tasks_say_where_they_come_from(luna: Agent) -> None:
    from memories.embeddings.indexing import document_split
    from memories.models import Document, Entity, Relation

    ends = agent_items_create(
        model=Entity, agent=luna, facts=[{"type": "Person", "name": name} for name in ("Ada", "Ben")], principal=SYSTEM
    )
    relation = {"source": ends[0], "target": ends[1], "type": "knows"}
    agent_items_create(model=Relation, agent=luna, facts=[relation], principal=KEY)
    assert by_source(luna, "relations") == {"agent"}
    [document] = agent_items_create(
        model=Document, agent=luna, facts=[{"path": "a.md", "content": "Ferries leave at nine."}], principal=KEY
    )
    document_split(id_=document.id)
    assert by_source(luna, "semantic_content") == {"agent"}
    [frame] = agent_items_create(model=TaskFrame, agent=luna, facts=[{"goal": "Guide"}], principal=KEY)
    assert by_source(luna, "task_stack", "current_task", task=frame) == {"agent"}


def test_turns_come_from_their_roles() -> None:
    roles = {"user": "person", "assistant": "agent", "tool": "tool", "system": "agent"}
    turns = tuple(ConversationTurn(role, "Hello") for role in roles)
    sent_by_person = gather_context(Agent(slug="luna"), history=turns, sender_origin="person")
    assert {one.kind: one.origin for one in found("turns", sent_by_person)} == roles
    sent_by_agent = gather_context(Agent(slug="luna"), history=turns, sender_origin="agent")
    assert {one.kind: one.origin for one in found("turns", sent_by_agent)} == {**roles, "user": "agent"}


@pytest.mark.parametrize("writer", ["key", "person"])
def test_the_decisions_of_a_context_say_where_each_item_comes_from(luna: Agent, admin_api: Api, writer: str) -> None:
    from agents.keys import api_key_create

    api = Api(api_key_create(agent=luna)[1]) if writer == "key" else admin_api
    request = {
        "agent": "luna",
        "team": "demo",
        "history": [{"role": "user", "content": "Hello"}, {"role": "tool", "content": "42"}],
        "additional_context": "Be brief today.",
    }
    made = api.post("assemblies", request).json()
    decisions = admin_api.get(f"assemblies/{made['id']}/decisions").json()["results"]
    origins = {one["ref"].split("@")[0]: one["origin"] for one in decisions}
    assert origins["request:additional_context"] == ("agent" if writer == "key" else "person")
    assert (origins["turn:1"], origins["turn:2"]) == ("agent" if writer == "key" else "person", "tool")
    assert None not in origins.values()
    assert admin_api.post(f"assemblies/{made['id']}/replay").json()["identical"] is True


def test_a_cached_answer_is_not_given_to_another_kind_of_caller(luna: Agent, admin_api: Api) -> None:
    from agents.keys import api_key_create

    request = {"agent": "luna", "additional_context": "Be brief today."}
    for api, origin in ((Api(api_key_create(agent=luna)[1]), "agent"), (admin_api, "person")):
        made = api.post("assemblies", request).json()
        decisions = admin_api.get(f"assemblies/{made['id']}/decisions").json()["results"]
        [found_] = [one["origin"] for one in decisions if one["ref"] == "request:additional_context"]
        assert found_ == origin


def test_what_a_rule_includes_says_where_it_comes_from(luna: Agent, admin_api: Api) -> None:
    memory = memory_create(owner=luna, facts=MemoryFacts(kind="fact", text="Ferries leave at nine."), principal=KEY)
    memory_update(
        memory=memory,
        expected_version=1,
        facts=MemoryFacts(kind="fact", text="Ferries leave at ten."),
        superseded_by=None,
        principal=KEY,
    )
    rule = "then: {always_include: [{memory_kind: fact}, {path: KNOWLEDGE}]}\n"
    assert admin_api.post("rules", {"name": "facts", "content": rule}).status_code == 201
    made = admin_api.post("assemblies", {"agent": "luna"}).json()
    decisions = admin_api.get(f"assemblies/{made['id']}/decisions").json()["results"]
    ruled = {one["ref"].split(":")[0]: one["origin"] for one in decisions if one["source"] == "rule_inclusions"}
    assert ruled == {"memory": "agent", "agent_file": "person"}
