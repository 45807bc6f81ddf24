"""Where memories and items of agents come from, through changes, merges and imports."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.models import Agent, DailyLog
from memories.imports.conversation import conversation_import, load_conversation
from memories.imports.record_folder import load_records
from memories.imports.record_import import records_import
from memories.imports.workspace import load_workspace, workspace_import
from memories.models import Document, Entity, Event, Memory, Pattern, TaskFrame
from memories.models.agent_item import AgentItem
from memories.models.session import TOOL_EVENT_TYPES
from memories.services import (
    MemoryFacts,
    MergeRequest,
    agent_item_update,
    agent_items_create,
    events_create,
    facts_of,
    memories_merge,
    memories_unmerge,
    memory_create,
    memory_supersede,
    memory_update,
    task_pop,
    task_push,
)
from teams.models import User
from teams.origin import Origin
from teams.principal import SYSTEM, Principal

pytestmark = pytest.mark.django_db

ADMIN_KEY = Principal(kind="admin_key", is_admin=True)
ORIGINS = {"person": Origin.PERSON, "key": Origin.AGENT, "admin key": Origin.PERSON, "system": Origin.PERSON}


@pytest.fixture
def writers(agent: Agent, owner: User) -> dict[str, Principal]:
    key = Principal(kind="agent_key", name="Ada's key", agent_id=agent.id)
    return {"person": owner.principal, "key": key, "admin key": ADMIN_KEY, "system": SYSTEM}


def memory_by(principal: Principal, agent: Agent, text: str = "The stage opens at nine.") -> Memory:
    return memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=principal)


def changed(memory: Memory, principal: Principal, *, text: str = "", **more: Any) -> Memory:
    facts = facts_of(memory)
    facts = MemoryFacts(kind=facts.kind, text=text or facts.text, salience=more.pop("salience", facts.salience))
    return memory_update(
        memory=memory, expected_version=memory.version, facts=facts, superseded_by=None, principal=principal, **more
    )


@pytest.mark.parametrize("writer", ORIGINS)
def test_a_memory_comes_from_who_wrote_it(agent: Agent, writers: dict[str, Principal], writer: str) -> None:
    memory = memory_by(writers[writer], agent)
    assert memory.origin == memory.versions.get().origin == ORIGINS[writer]


@pytest.mark.parametrize("writer", ORIGINS)
@pytest.mark.parametrize("kind", [*sorted(TOOL_EVENT_TYPES), "message", "deployed"])
def test_an_event_comes_from_the_tool_that_it_records_or_from_who_wrote_it(
    agent: Agent, writers: dict[str, Principal], writer: str, kind: str
) -> None:
    facts = {"type": kind, "content": {"text": "Done."}, "tool": "shell"}
    [event] = events_create(agent=agent, facts=[facts], principal=writers[writer])
    assert event.origin == (Origin.TOOL if kind in TOOL_EVENT_TYPES else ORIGINS[writer])
    raised = agent_item_update(
        thing=event, expected_version=1, changes={"outcome": "success"}, principal=writers["person"]
    )
    assert (raised.version, raised.origin) == (2, event.origin)


def test_a_person_who_corrects_an_agents_text_makes_it_the_persons(agent: Agent, writers: dict[str, Principal]) -> None:
    memory = memory_by(writers["key"], agent)
    memory = changed(memory, writers["person"], pinned=True)
    memory = changed(memory, writers["person"], salience=0.9)
    assert (memory.version, memory.origin) == (3, "agent")
    memory = changed(memory, writers["person"], text="It opens at ten.")
    memory = changed(memory, writers["key"], salience=0.1)
    assert memory.origin == "person"
    memory = changed(memory, writers["key"], text="It opens at eleven.")
    assert list(memory.versions.order_by("version").values_list("origin", flat=True)) == [
        "agent", "agent", "agent", "person", "person", "agent",
    ]  # fmt: skip


def test_who_restores_a_version_has_not_written_it(agent: Agent, writers: dict[str, Principal]) -> None:
    memory = memory_by(writers["key"], agent, "It opens at ten.")
    memory = changed(memory, writers["person"], text="It opens at nine.")
    assert changed(memory, writers["person"], text="It opens at ten.").origin == "agent"


def test_an_unchanged_memory_gets_no_version_for_its_origin(agent: Agent, writers: dict[str, Principal]) -> None:
    memory = memory_by(writers["key"], agent)
    assert changed(memory, writers["person"]).version == 1
    assert changed(memory, writers["person"], text="The stage\u200b opens at nine.").version == 1


@pytest.mark.parametrize(
    ("kept", "other", "text", "by", "origin"),
    [
        ("person", "person", None, "person", "person"),
        ("person", "key", None, "person", "agent"),
        ("key", "person", None, "person", "agent"),
        ("person", "key", "Both in one.", "person", "agent"),
        ("person", "person", "Both in one.", "key", "agent"),
        ("person", "person", None, "key", "person"),
        ("tool", "key", "Both in one.", "person", "tool"),
    ],
)
def test_a_merge_has_the_least_trusted_origin_of_its_parts(
    *, agent: Agent, writers: dict[str, Principal], kept: str, other: str, text: str | None, by: str, origin: str
) -> None:
    writers["tool"] = writers["key"].relaying(Origin.TOOL)
    stays, goes = memory_by(writers[kept], agent), memory_by(writers[other], agent, "It opens at 9.")
    before = stays.origin
    merging = MergeRequest(keep=stays.id, versions={stays.id: 1, goes.id: 1}, text=text)
    merged = memories_merge(owner=agent, merging=merging, principal=writers[by])
    assert merged.origin == merged.versions.get(version=2).origin == origin
    goes.refresh_from_db()
    assert goes.versions.get(version=2).origin == goes.origin == goes.versions.get(version=1).origin
    separated = memories_unmerge(memory=merged, expected_version=2, principal=writers["person"])
    assert (separated.text, separated.origin) == ("The stage opens at nine.", before)


@pytest.mark.parametrize(
    ("parts", "by", "origin"),
    [(["person", "person"], "person", "person"), (["person", "key"], "person", "agent"), (["person"], "key", "agent")],
)
def test_a_summary_has_the_least_trusted_origin_of_its_parts(
    agent: Agent, writers: dict[str, Principal], parts: list[str], by: str, origin: str
) -> None:
    old = [memory_by(writers[part], agent, f"Part {place}.") for place, part in enumerate(parts)]
    facts, superseded = MemoryFacts(kind="fact", text="All."), [one.id for one in old]
    memory = memory_supersede(owner=agent, facts=facts, superseded=superseded, principal=writers[by])
    assert set(memory.versions.values_list("origin", flat=True)) == {memory.origin} == {origin}


ITEMS: list[tuple[type[AgentItem], dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (Entity, {"type": "Person", "name": "Ada", "properties": {}}, {"properties": {"role": "guide"}}, {"salience": 0.9}),
    (Pattern, {"name": "Rain", "guidance": "Go inside."}, {"guidance": "Stay."}, {"applications": 1}),
    (Document, {"path": "a.md", "content": "Text."}, {"content": "Other text."}, {"is_open": True}),
]


@pytest.mark.parametrize(("model", "facts", "rewrite", "weigh"), ITEMS)
def test_an_item_comes_from_who_wrote_what_contexts_tell(
    *,
    agent: Agent,
    writers: dict[str, Principal],
    model: type[AgentItem],
    facts: dict[str, Any],
    rewrite: dict[str, Any],
    weigh: dict[str, Any],
) -> None:
    [thing] = agent_items_create(model=model, agent=agent, facts=[facts], principal=writers["key"])
    assert thing.origin == "agent"
    thing = agent_item_update(thing=thing, expected_version=1, changes=weigh, principal=writers["person"])
    assert (thing.version, thing.origin) == (2, "agent")
    thing = agent_item_update(thing=thing, expected_version=2, changes=rewrite, principal=writers["person"])
    assert thing.origin == "person"
    thing = agent_item_update(thing=thing, expected_version=3, changes=weigh | facts, principal=writers["key"])
    assert thing.origin == "agent"


def test_a_result_by_an_agent_makes_the_task_the_agents(agent: Agent, writers: dict[str, Principal]) -> None:
    assert task_push(agent=agent, session=None, goal="Guide", principal=writers["person"]).origin == "person"
    assert task_pop(agent=agent, session=None, result="Done", principal=writers["key"]).origin == "agent"


def test_items_are_stored_without_invisible_characters(agent: Agent) -> None:
    content = {"te\u200bxt": "Tea\u202e", "more": ["\u2060a", {"b": "c\U000e0041"}]}
    facts = {"type": "message", "content": content, "external_id": "mail\u200b1"}
    [event] = events_create(agent=agent, facts=[facts], principal=SYSTEM)
    event.refresh_from_db()
    assert (event.content, event.external_id) == ({"text": "Tea", "more": ["a", {"b": "c"}]}, "mail\u200b1")
    [entity] = agent_items_create(
        model=Entity, agent=agent, facts=[{"type": "Person", "name": "A\u00adda", "aliases": ["A\u200b"]}],
        principal=SYSTEM,
    )  # fmt: skip
    assert (entity.name, entity.aliases, entity.names) == ("Ada", ["A"], ["a", "ada"])
    changes = {"name": "Ada\u200b"}
    assert agent_item_update(thing=entity, expected_version=1, changes=changes, principal=SYSTEM).version == 1


def test_imported_records_come_from_the_agent_and_its_tools_and_documents_from_who_imports(
    agent: Agent, tmp_path: Path, owner: User
) -> None:
    lines = [
        {"type": "message", "content": {"text": "Tea?\u200b"}},
        {"type": "tool_result", "tool": "search", "content": {"text": "Nine hits."}},
    ]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "patterns.jsonl").write_text(json.dumps({"name": "Rain", "guidance": "Go inside."}))
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"goal": "Guide"}))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "a.md").write_text("Doors\u200b open at nine.")
    records_import(records=load_records(tmp_path), agent="ada", principal=owner.principal, advance=int)
    assert dict(Event.objects.values_list("type", "origin")) == {"message": "agent", "tool_result": "tool"}
    assert Event.objects.get(type="message").content == {"text": "Tea?"}
    assert [Pattern.objects.get().origin, TaskFrame.objects.get().origin] == ["agent", "agent"]
    document = Document.objects.get()
    assert (document.origin, document.content) == ("person", "Doors open at nine.")
    again = records_import(records=load_records(tmp_path), agent="ada", principal=owner.principal, advance=int)
    assert (sum(again.new.values()), again.changed_documents) == (0, 0)


def test_an_imported_conversation_is_trusted_like_an_agent(agent: Agent, tmp_path: Path, owner: User) -> None:
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": "Tea at\u200b nine."}
    said = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    (tmp_path / "talk.json").write_text(json.dumps(said))
    for _ in range(2):
        sessions = load_conversation(tmp_path / "talk.json")
        conversation_import(sessions=sessions, agent="ada", principal=owner.principal, advance=int)
    memory, log = Memory.objects.get(), DailyLog.objects.get()
    assert (memory.text, memory.origin, log.origin) == ("Ada: Tea at nine.", "agent", "agent")
    assert (log.version, "Tea at nine." in log.content) == (1, True)


def test_an_imported_workspace_comes_from_who_imports_it_unless_it_says_less(
    agent: Agent, tmp_path: Path, owner: User
) -> None:
    (tmp_path / "IDENTITY.md").write_text("I am\u200b Ada.")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-03-14.md").write_text("Rain.")
    (tmp_path / "MEMORY.md").write_text('- [fact] One.\n<!-- {"origin":"external"} -->\n- [fact] Two.\n')
    workspace_import(workspace=load_workspace(tmp_path), agent="ada", team=None, principal=owner.principal, advance=int)
    identity = agent.files.get(file_key="IDENTITY")
    assert (identity.content, identity.origin, DailyLog.objects.get().origin) == ("I am Ada.", "person", "person")
    assert dict(Memory.objects.values_list("text", "origin")) == {"One.": "person", "Two.": "external"}
