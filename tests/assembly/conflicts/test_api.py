"""REST: conflicts are listed, read, decided and reopened by those who may."""

import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.keys import api_key_create
from agents.models import Agent
from assembly.models import Conflict, Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, found_conflict, remember, run_jobs
from tests.client import Answer, Api

pytestmark = pytest.mark.django_db


def test_a_conflict_is_listed_read_decided_and_reopened(agent: Agent, team: Team, editor: User) -> None:
    conflict = found_conflict(agent, team)
    api = Api(person=editor.principal)
    (listed,) = api.get("conflicts").json()["results"]
    assert (listed["id"], listed["agent"], listed["team"]) == (str(conflict.id), "ada", "care")
    assert (listed["kind"], listed["status"], listed["resolution"]) == ("time", "open", None)
    assert {listed["left"]["statement"], listed["right"]["statement"]} == {EIGHTY, NINETY}
    for item, found in ((conflict.left_item, 1), (conflict.right_item, 1), (uuid.uuid4(), 0)):
        assert len(api.get(f"conflicts?item={item}").json()["results"]) == found
    read = api.get(f"conflicts/{conflict.id}").json()
    assert {side["text"] for side in (read["left"], read["right"])} == {EIGHTY, NINETY}
    assert {(side["agent"], side["team"]) for side in (read["left"], read["right"])} == {("ada", None), (None, "care")}
    assert all(side["current"] and side["credibility"] == 0.5 for side in (read["left"], read["right"]))
    answer = api.post(f"conflicts/{conflict.id}/resolve", {"choice": "left", "reason": "It is so."})
    assert answer.status_code == 200
    decided = answer.json()
    assert (decided["status"], decided["resolution"], decided["reason"]) == ("resolved", "left", "It is so.")
    assert decided["resolved_by"] == {"type": "person", "ref": editor.principal.ref, "name": "Edda Editor"}
    assert api.get("conflicts").json()["results"] == []
    assert len(api.get("conflicts?status=resolved").json()["results"]) == 1
    again = api.post(f"conflicts/{conflict.id}/resolve", {"choice": "right"})
    assert problem(again) == (409, "conflict", "Decided already")
    undone = api.post(f"conflicts/{conflict.id}/undo")
    assert (undone.status_code, undone.json()["status"], undone.json()["resolved_by"]) == (200, "open", None)
    assert problem(api.post(f"conflicts/{conflict.id}/undo")) == (409, "conflict", "There is no decision to undo")


@pytest.mark.parametrize("because", ["text_changed", "not_found"])
def test_an_outdated_conflict_says_so_in_its_title(agent: Agent, editor: User, because: str) -> None:
    conflict = found_conflict(agent, agent)
    Conflict.objects.update(status="gone", gone_because=because)
    answer = Api(person=editor.principal).post(f"conflicts/{conflict.id}/resolve", {"choice": "both"})
    assert problem(answer) == (409, "conflict", "The conflict is outdated")


def problem(answer: Answer) -> tuple[int, str, str]:
    said = answer.json()
    return answer.status_code, said["code"], said["title"]


def test_the_contexts_that_included_a_side_are_named(agent: Agent, team: Team, editor: User) -> None:
    conflict = found_conflict(agent, team)
    asked = AssemblyRequest(topic="When does the support line open?", profile="memory", purpose=Purpose.AGENT)
    made = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    alone = assemble(agent=agent, asked=asked, principal=SYSTEM)
    mine = "left" if conflict.left_statement == EIGHTY else "right"
    of_agent, of_both = Api(person=editor.principal).get(f"conflicts/{conflict.id}").json()["contexts"]
    assert (of_agent["id"], of_agent["team"], of_agent[mine]) == (str(alone.assembly.id), None, True)
    assert (of_both["id"], of_both["agent"], of_both["team"]) == (str(made.assembly.id), "ada", "care")
    assert of_both["left"] != of_both["right"], "contexts tell one side"


def test_a_memory_is_rewritten_and_restored(agent: Agent, editor: User) -> None:
    conflict = found_conflict(agent, agent)
    api, path = Api(person=editor.principal), f"conflicts/{conflict.id}"
    choice = "edit_left" if conflict.left_statement == EIGHTY else "edit_right"
    refused = api.post(f"{path}/resolve", {"choice": choice, "text": "The support line opens at 7 in the morning."})
    assert refused.status_code == 422
    assert refused.json()["errors"]["text"][0]["message"].startswith("The texts still contradict each other.")
    answer = api.post(f"{path}/resolve", {"choice": choice, "text": NINETY, "reason": "New hours."})
    assert answer.status_code == 200
    decided = answer.json()
    assert (decided["status"], decided["resolution"], decided["reason"]) == ("resolved", "edited", "New hours.")
    assert decided["resolved_by"]["name"] == "Edda Editor"
    assert {decided[side]["text"] for side in ("left", "right")} == {NINETY}
    assert {decided[side]["statement"] for side in ("left", "right")} == {EIGHTY, NINETY}
    undone = api.post(f"{path}/undo").json()
    assert (undone["status"], undone["resolution"]) == ("open", None)
    assert {undone[side]["text"] for side in ("left", "right")} == {EIGHTY, NINETY}


@pytest.mark.parametrize(
    ("query", "kinds"),
    [("", ["duplicate", "time", "time"]), ("kind=time", ["time", "time"]), ("kind=duplicate", ["duplicate"]),
     ("agent=ada", ["duplicate", "time", "time"]), ("team=care", ["duplicate", "time"]), ("status=gone", []),
     ("status=all&team=care&kind=time", ["time"]), ("status=all&limit=1", ["time"])],
)  # fmt: skip
def test_lists_are_filtered(agent: Agent, team: Team, editor: User, query: str, kinds: list[str]) -> None:
    found_conflict(agent, agent)
    remember(team, EIGHTY)
    run_jobs()
    results = Api(person=editor.principal).get(f"conflicts?{query}").json()["results"]
    found = sorted(one["kind"] for one in results)
    assert found == sorted(kinds) or (query.endswith("limit=1") and len(found) == 1)


@pytest.mark.parametrize(
    ("path", "code"),
    [("conflicts?status=new", "invalid"), ("conflicts?kind=tea", "invalid"), ("conflicts?x=1", "unknown"),
     ("conflicts?limit=0", "invalid"), ("conflicts?item=tea", "invalid"), ("conflicts?cursor=x", "invalid")],
)  # fmt: skip
def test_bad_parameters_are_named(agent: Agent, editor: User, path: str, code: str) -> None:
    answer = Api(person=editor.principal).get(path)
    assert answer.status_code == 422
    assert [error["code"] for errors in answer.json()["errors"].values() for error in errors] == [code]


@pytest.mark.parametrize(
    "body",
    [{}, {"choice": "middle"}, {"choice": "left", "x": 1}, {"choice": "left", "reason": "\x00"}, {"choice": 1},
     {"choice": "edit_left"}, {"choice": "edit_left", "text": " "}, {"choice": "both", "text": "It is so."},
     {"choice": "edit_right", "text": "x" * 20_001}, {"choice": "edit_right", "text": 1}],
)  # fmt: skip
def test_a_bad_decision_is_refused(agent: Agent, editor: User, body: dict[str, object]) -> None:
    conflict = found_conflict(agent, agent)
    answer = Api(person=editor.principal).post(f"conflicts/{conflict.id}/resolve", body)
    assert answer.status_code == 422
    assert Conflict.objects.get().is_open


@pytest.fixture
def people(teammate: User, outsider: User) -> tuple[User, User]:
    return teammate, outsider


def test_outsiders_find_nothing_and_readers_may_not_decide(
    agent: Agent, team: Team, people: tuple[User, User], agent_api: Api, other_agent_api: Api
) -> None:
    conflict = found_conflict(agent, team)
    teammate, outsider = people
    for api in (Api(person=outsider.principal), other_agent_api):
        assert api.get("conflicts").json()["results"] == []
        for method, path in (("GET", ""), ("POST", "/resolve"), ("POST", "/undo")):
            answer = api.send(
                method, f"conflicts/{conflict.id}{path}", {"choice": "both"} if method == "POST" else None
            )
            assert answer.status_code == 404
    assert agent_api.get(f"conflicts/{uuid.uuid4()}").status_code == 404
    reader = Api(person=teammate.principal)
    assert len(reader.get("conflicts").json()["results"]) == 1
    assert reader.post(f"conflicts/{conflict.id}/resolve", {"choice": "both"}).status_code == 403
    assert reader.post(f"conflicts/{conflict.id}/undo").status_code == 403
    assert Api().get("conflicts").status_code == 401


@pytest.mark.parametrize("scopes", [[], ["files:write", "team-files:write"]])
def test_an_agents_key_reads_conflicts_and_neither_decides_nor_undoes(
    agent: Agent, editor: User, scopes: list[str]
) -> None:
    conflict = found_conflict(agent, agent)
    path, api = f"conflicts/{conflict.id}", Api(api_key_create(agent=agent, name="key", scopes=scopes)[1])
    assert api.get(path).status_code == 200
    assert len(api.get("conflicts").json()["results"]) == 1
    edit = {"choice": "edit_left", "text": "Nobody knows."}
    for body in ({"choice": "left"}, {"choice": "both"}, edit):
        answer = api.post(f"{path}/resolve", body)
        said = answer.json()
        assert (answer.status_code, said["code"], said["title"]) == (403, "forbidden", "Access denied")
        assert said["detail"].startswith("People decide on conflicts")
    assert Conflict.objects.get().is_open
    Api(person=editor.principal).post(f"{path}/resolve", {"choice": "left"})
    assert api.post(f"{path}/undo").status_code == 403
    assert Conflict.objects.get().resolution == "left"


def test_an_agents_key_still_supersedes_a_memory_of_its_agent(agent: Agent, agent_api: Api) -> None:
    found_conflict(agent, agent)
    old, new = agent.memories.get(text=EIGHTY), agent.memories.get(text=NINETY)
    answer = agent_api.send("PATCH", f"agents/ada/memories/{old.id}", {"superseded_by": str(new.id)}, if_match='"1"')
    assert answer.status_code == 200
    assert not Conflict.objects.waiting().exists()


def test_a_program_decides_with_an_admin_key(agent: Agent, team: Team, admin: User) -> None:
    conflict = found_conflict(agent, team)
    api = Api(api_key_create(agent=None, name="integration", principal=admin.principal)[1])
    assert api.post(f"conflicts/{conflict.id}/resolve", {"choice": "both"}).status_code == 200
    assert api.post(f"conflicts/{conflict.id}/undo").status_code == 200


def test_only_admins_decide_on_texts_of_the_organisation(agent: Agent, editor: User, admin: User) -> None:
    remember(agent, EIGHTY)
    organisation_file_create(key="hours", title="Hours", content=NINETY, principal=SYSTEM)
    run_jobs()
    conflict = Conflict.objects.get()
    read = Api(person=editor.principal).get(f"conflicts/{conflict.id}").json()
    assert {side["title"] for side in (read["left"], read["right"])} == {"fact", "Hours"}
    assert Api(person=editor.principal).post(f"conflicts/{conflict.id}/resolve", {"choice": "both"}).status_code == 403
    assert Api(person=admin.principal).post(f"conflicts/{conflict.id}/resolve", {"choice": "both"}).status_code == 200


def test_a_page_takes_as_many_queries_for_many_conflicts(agent: Agent, editor: User) -> None:
    found_conflict(agent, agent)
    api = Api(person=editor.principal)
    with CaptureQueriesContext(connection) as one:
        api.get("conflicts")
    for hour in (10, 11, 12):
        remember(agent, f"The support line opens at {hour} in the morning.")
    run_jobs()
    with CaptureQueriesContext(connection) as many:
        assert len(api.get("conflicts").json()["results"]) > 3
    assert len(many) == len(one)
