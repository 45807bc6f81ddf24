"""Tasks and the task stack over REST."""

import uuid
from itertools import pairwise
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from memories.models import TaskFrame
from memories.services.item_hooks import MAX_DEPTH
from tests.client import Api, errors_of, problem
from tests.memories.agent_items import things_of

pytestmark = pytest.mark.django_db

STACK = "agents/ada/task-stack"


def task(api: Api, goal: str, **facts: Any) -> dict[str, Any]:
    response = api.post("agents/ada/tasks", {"goal": goal, **facts})
    assert response.status_code == 201, response.content
    document: dict[str, Any] = response.json()
    return document


def test_the_story_of_a_stack(agent: Agent, agent_api: Api) -> None:
    assert agent_api.get(STACK).json() == {"current": None, "path": []}
    frames = []
    for goal in ("Answer Mrs Hall", "Find her order", "Ask the warehouse"):
        response = agent_api.post(f"{STACK}/push", {"goal": goal})
        frames.append(response.json())
        assert (response.status_code, response["ETag"]) == (201, '"1"')
        assert agent_api.get(response["Location"]).json() == {**frames[-1], "children": []}
    assert [frame["depth"] for frame in frames] == [0, 1, 2]
    assert [frame["parent"] for frame in frames] == [None, frames[0]["id"], frames[1]["id"]]
    for frame, child in pairwise(frames):
        assert frame["children"] == []
        frame["children"] = [child["id"]]
    assert agent_api.get(STACK).json() == {"current": frames[2], "path": frames}
    listed = agent_api.get("agents/ada/tasks").json()["results"]
    assert [frame["children"] for frame in listed] == [[], [frames[2]["id"]], [frames[1]["id"]]]

    popped = agent_api.post(f"{STACK}/pop", {"result": "It left on Monday."}).json()
    assert popped["popped"].items() >= {
        "id": frames[2]["id"], "status": "complete", "result": "It left on Monday.", "version": 2,
    }.items()  # fmt: skip
    assert popped["current"] == frames[1]
    assert popped["path"] == frames[:2]
    agent_api.post(f"{STACK}/pop", {"result": "Found."})
    assert agent_api.post(f"{STACK}/pop", {"result": ""}).json()["current"] is None
    empty = agent_api.post(f"{STACK}/pop", {"result": "Nothing"})
    assert problem(empty) == (409, "conflict")
    assert "nothing to pop" in empty.json()["detail"]


def test_each_session_has_its_own_stack(agent: Agent, agent_api: Api) -> None:
    session = agent_api.post("agents/ada/sessions", {}).json()["id"]
    agent_api.post(f"{STACK}/push", {"goal": "Mine"})
    agent_api.post(f"{STACK}/push", {"goal": "The session's", "session": session})
    assert agent_api.get(STACK).json()["current"]["goal"] == "Mine"
    assert agent_api.get(f"{STACK}?session={session}").json()["current"]["goal"] == "The session's"
    assert agent_api.post(f"{STACK}/pop", {"result": "x", "session": session}).json()["current"] is None
    assert agent_api.get(STACK).json()["current"]["goal"] == "Mine"


def test_the_current_task_is_the_deepest_and_of_those_the_newest(agent: Agent, agent_api: Api) -> None:
    root = task(agent_api, "Root")
    older, newer = (task(agent_api, goal, parent=root["id"]) for goal in ("Older", "Newer"))
    task(agent_api, "Newest, but a root")
    assert agent_api.get(STACK).json()["current"] == newer
    agent_api.patch(f"agents/ada/tasks/{newer['id']}", {"status": "blocked"}, if_match='"1"')
    root["children"] = [older["id"], newer["id"]]
    assert agent_api.get(STACK).json() == {"current": older, "path": [root, older]}


def test_the_path_leads_through_what_is_not_active_any_more(agent: Agent, agent_api: Api) -> None:
    root = task(agent_api, "Root", status="complete", result="Done")
    part = task(agent_api, "Part", parent=root["id"])
    root["children"] = [part["id"]]
    assert agent_api.get(STACK).json()["path"] == [root, part]


def test_a_part_belongs_to_the_session_of_its_whole(agent: Agent, agent_api: Api) -> None:
    one, other = (agent_api.post("agents/ada/sessions", {}).json()["id"] for _ in range(2))
    root = task(agent_api, "Root", session=one)
    assert task(agent_api, "Part", parent=root["id"]).items() >= {"session": one, "depth": 1}.items()
    body = {"goal": "Part", "parent": root["id"], "session": other}
    assert errors_of(agent_api.post("agents/ada/tasks", body)) == {"session"}
    assert errors_of(agent_api.post("agents/ada/tasks/batch", {"items": [body]})) == {"items.0.session"}


def test_the_list_can_be_narrowed(agent: Agent, agent_api: Api) -> None:
    session = agent_api.post("agents/ada/sessions", {}).json()["id"]
    root = task(agent_api, "Root", session=session)
    part = task(agent_api, "Part", parent=root["id"], status="blocked")
    task(agent_api, "Elsewhere")
    root["children"] = [part["id"]]
    for query, expected in (
        (f"session={session}", [part, root]), (f"parent={root['id']}", [part]), ("status=blocked", [part]),
        (f"session={session}&status=active", [root]),
    ):  # fmt: skip
        assert agent_api.get(f"agents/ada/tasks?{query}").json()["results"] == expected


def test_tasks_of_another_agent_are_as_if_they_were_not_there(agent: Agent, agent_api: Api) -> None:
    others = things_of(agent_create(slug="bob", name="Bob"))
    for field, noun in (("parent", "tasks"), ("session", "sessions")):
        answers = [
            agent_api.post("agents/ada/tasks", {"goal": "x", field: str(id_)})
            for id_ in (others[noun].id, uuid.uuid4())
        ]
        assert [errors_of(answer) for answer in answers] == [{field}, {field}]
        assert answers[0].json()["errors"] == answers[1].json()["errors"]
    theirs = agent_api.post(f"{STACK}/push", {"goal": "x", "session": str(others["sessions"].id)})
    assert errors_of(theirs) == {"session"}


def test_goals_are_not_nested_for_ever(agent: Agent, agent_api: Api) -> None:
    deepest = TaskFrame.objects.create(agent=agent, goal="Deep", depth=MAX_DEPTH - 1)
    answer = agent_api.post(f"{STACK}/push", {"goal": "Deeper"})
    assert problem(answer) == (409, "conflict")
    assert f"at most {MAX_DEPTH} deep" in answer.json()["detail"]
    body = {"goal": "Deeper", "parent": str(deepest.id)}
    assert errors_of(agent_api.post("agents/ada/tasks", body)) == {"parent"}


def test_a_deleted_task_takes_its_parts_along(agent: Agent, agent_api: Api) -> None:
    root = task(agent_api, "Root")
    task(agent_api, "Part", parent=root["id"])
    assert agent_api.delete(f"agents/ada/tasks/{root['id']}").status_code == 204
    assert not TaskFrame.objects.exists()


def test_the_same_key_pushes_once(agent: Agent, agent_api: Api) -> None:
    answers = [agent_api.post(f"{STACK}/push", {"goal": "Once"}, idempotency_key="k") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert TaskFrame.objects.count() == 1


def test_a_path_costs_one_query(agent: Agent, agent_api: Api, django_assert_num_queries: Any) -> None:
    for number in range(20):
        agent_api.post(f"{STACK}/push", {"goal": str(number)})
    with django_assert_num_queries(4):  # the key, the agent, the path, the children of its frames
        assert len(agent_api.get(STACK).json()["path"]) == 20
