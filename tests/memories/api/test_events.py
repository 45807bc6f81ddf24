"""Events over REST: what happened in an agent's sessions, one by one or a thousand at once."""

import uuid
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from memories.models import Event, Session
from tests.client import Api, errors_of
from tests.memories.agent_items import things_of

pytestmark = pytest.mark.django_db


def happened(api: Api, **facts: Any) -> dict[str, Any]:
    response = api.post("agents/ada/events", {"type": "message", "content": {"text": "Hello"}, **facts})
    assert response.status_code == 201, response.content
    document: dict[str, Any] = response.json()
    return document


def test_an_event_happens_now_and_has_a_size(agent: Agent, agent_api: Api) -> None:
    event = happened(agent_api, content={"b": [1, 2.5], "a": "ä\n"})
    assert event.items() >= {"size": len('{"a":"ä\\n","b":[1,2.5]}'), "session": None, "task": None}.items()
    assert event["occurred_at"] <= event["created_at"]


def test_the_newest_come_first_by_when_they_occurred(agent: Agent, agent_api: Api) -> None:
    for day in (2, 3, 1):
        happened(agent_api, occurred_at=f"2026-01-0{day}T00:00:00Z", external_id=str(day))
    rows = agent_api.get("agents/ada/events").json()["results"]
    assert [row["external_id"] for row in rows] == ["3", "2", "1"]
    rows = agent_api.get("agents/ada/events?since=2026-01-02T01:00:00%2B01:00").json()["results"]
    assert [row["external_id"] for row in rows] == ["3", "2"]


def test_the_list_can_be_narrowed(agent: Agent, agent_api: Api) -> None:
    session = agent_api.post("agents/ada/sessions", {"title": "Monday"}).json()["id"]
    task = agent_api.post("agents/ada/tasks", {"goal": "Reply"}).json()["id"]
    made = {
        "session": happened(agent_api, session=session),
        "task": happened(agent_api, task=task),
        "type": happened(agent_api, type="error"),
    }
    for query, name in ((f"session={session}", "session"), (f"task={task}", "task"), ("type=error", "type")):
        rows = agent_api.get(f"agents/ada/events?{query}").json()["results"]
        assert [row["id"] for row in rows] == [made[name]["id"]]
    assert agent_api.get(f"agents/ada/events?session={session}&type=error").json()["results"] == []
    assert agent_api.get(f"agents/ada/events?session={uuid.uuid4()}").json()["results"] == []


def test_a_tool_result_names_its_tool(agent: Agent, agent_api: Api) -> None:
    body = {"type": "tool_result", "content": {"rows": 3}}
    assert errors_of(agent_api.post("agents/ada/events", body)) == {"tool"}
    assert agent_api.post("agents/ada/events", {**body, "tool": "sql"}).status_code == 201
    batch = agent_api.post("agents/ada/events/batch", {"items": [{**body, "tool": "sql"}, body, body]})
    assert errors_of(batch) == {"items.1.tool", "items.2.tool"}


def test_a_session_is_made_by_its_key(agent: Agent, agent_api: Api) -> None:
    items = [
        {"type": "message", "content": {}, "session_key": key, "occurred_at": f"2026-01-0{day}T00:00:00Z"}
        for key, day in (("a", 3), ("b", 4), ("a", 2))
    ]
    answer = agent_api.post("agents/ada/events/batch", {"items": items}).json()
    assert (answer["created"], answer["skipped"]) == (3, 0)
    sessions = {row["external_id"]: row for row in agent_api.get("agents/ada/sessions").json()["results"]}
    assert {key: row["started_at"] for key, row in sessions.items()} == {
        "a": "2026-01-02T00:00:00Z", "b": "2026-01-04T00:00:00Z",
    }  # fmt: skip
    events = [agent_api.get(f"agents/ada/events/{id_}").json()["session"] for id_ in answer["ids"]]
    assert events == [sessions[key]["id"] for key in "aba"]
    assert happened(agent_api, session_key="a")["session"] == sessions["a"]["id"]
    assert Session.objects.count() == 2


def test_a_session_is_named_in_one_way(agent: Agent, agent_api: Api) -> None:
    session = str(things_of(agent)["sessions"].id)
    body = {"type": "message", "content": {}, "session": session, "session_key": "a"}
    assert errors_of(agent_api.post("agents/ada/events", body)) == {"session_key"}
    assert errors_of(agent_api.post("agents/ada/events/batch", {"items": [body]})) == {"items.0.session_key"}


def test_a_batch_that_fails_makes_no_session(agent: Agent, agent_api: Api) -> None:
    item = {"type": "tool_result", "content": {}, "session_key": "a"}
    assert errors_of(agent_api.post("agents/ada/events/batch", {"items": [item]})) == {"items.0.tool"}
    assert not Session.objects.exists()


def test_what_another_agent_has_is_as_if_it_were_not_there(agent: Agent, agent_api: Api) -> None:
    others = things_of(agent_create(slug="bob", name="Bob"))
    for field, noun in (("session", "sessions"), ("task", "tasks")):
        body = {"type": "message", "content": {}}
        theirs = agent_api.post("agents/ada/events", {**body, field: str(others[noun].id)})
        nobodys = agent_api.post("agents/ada/events", {**body, field: str(uuid.uuid4())})
        assert errors_of(theirs) == errors_of(nobodys) == {field}
        assert theirs.json()["detail"] == nobodys.json()["detail"]
        batch = agent_api.post("agents/ada/events/batch", {"items": [body, {**body, field: str(others[noun].id)}]})
        assert errors_of(batch) == {f"items.1.{field}"}


def test_what_happened_stays_but_its_outcome_may_be_learnt_later(agent: Agent, agent_api: Api) -> None:
    event = happened(agent_api)
    path = f"agents/ada/events/{event['id']}"
    assert errors_of(agent_api.patch(path, {"content": {}, "type": "error"}, if_match='"1"')) == {"content", "type"}
    task = str(things_of(agent)["tasks"].id)
    changed = agent_api.patch(path, {"outcome": "success", "task": task}, if_match='"1"').json()
    assert changed.items() >= {"outcome": "success", "task": task, "version": 2}.items()


def test_a_deleted_session_takes_its_events_along_a_deleted_task_does_not(agent: Agent, agent_api: Api) -> None:
    things = things_of(agent)
    with_task = happened(agent_api, task=str(things["tasks"].id))["id"]
    in_session = happened(agent_api, session=str(things["sessions"].id))["id"]
    for noun in ("tasks", "sessions"):
        assert agent_api.delete(f"agents/ada/{noun}/{things[noun].id}").status_code == 204
    assert agent_api.get(f"agents/ada/events/{with_task}").json()["task"] is None
    assert agent_api.get(f"agents/ada/events/{in_session}").status_code == 404


@pytest.mark.parametrize("count", [1, 1000])
def test_a_batch_takes_as_many_statements_for_a_thousand_as_for_one(
    count: int, agent: Agent, agent_api: Api, django_assert_num_queries: Any
) -> None:
    things = things_of(agent)
    named = {"session": str(things["sessions"].id), "task": str(things["tasks"].id)}
    items = [
        {"type": "message", "content": {"n": number}, "external_id": f"x-{number}", **named} for number in range(count)
    ]
    items[0] = {"type": "message", "content": {}, "session_key": "new", "external_id": "x-0", "task": named["task"]}
    agent_api.get("teams")
    with django_assert_num_queries(23):  # ten of them savepoints
        answer = agent_api.post("agents/ada/events/batch", {"items": items})
    assert answer.json()["created"] == Event.objects.count() - 1 == count
