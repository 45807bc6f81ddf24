"""Recall tests over REST: created, read, listed, changed, run, and made from a context."""

from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from assembly.models import RecallTest
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.services import recall_test_run
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create, team_update
from tests.assembly.recall_tests.conftest import RULE_TEXT
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

NOBODY = "00000000-0000-7000-8000-000000000000"


def body(**more: Any) -> dict[str, Any]:
    return {"name": "Refunds", "topic": "refund", "expectations": [{"kind": "include", "text": RULE_TEXT}], **more}


def test_a_test_is_created_read_and_listed(admin_api: Api, agent: Agent, team: Team, memory: Memory) -> None:
    expectations = [{"kind": "include", "ref": f"memory:{memory.id}@1"}, {"kind": "exclude", "text": "guess"}]
    answer = admin_api.post("recall-tests", body(team="care", agent="ada", max_tokens=900, expectations=expectations))
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert answer["Location"] == f"/api/v1/recall-tests/{document['id']}"
    assert (document["team"], document["agent"], document["max_tokens"]) == ("care", "ada", 900)
    assert document["expectations"] == [
        {"kind": "include", "ref": f"memory:{memory.id}", "text": "", "label": memory.text},
        {"kind": "exclude", "ref": "", "text": "guess", "label": ""},
    ]
    assert (document["archived"], document["version"]) == (False, 1)
    assert admin_api.get(f"recall-tests/{document['id']}").json() == document
    for query in ("", "?agent=ada", "?team=care", "?archived=false"):
        assert admin_api.get(f"recall-tests{query}").json()["results"] == [document]
    assert admin_api.get("recall-tests?archived=true").json()["results"] == []


def test_a_test_is_changed_archived_and_deleted(admin_api: Api, refund_test: RecallTest) -> None:
    path = f"recall-tests/{refund_test.id}"
    assert admin_api.put(path, body()).status_code == 428
    answer = admin_api.put(path, body(name="Renamed"), if_match='"1"')
    assert answer.status_code == 200, answer.content
    assert (answer.json()["name"], answer.json()["version"]) == ("Renamed", 2)
    stale = admin_api.put(path, body(), if_match='"1"')
    assert stale.status_code == 412
    assert stale.json()["current"]["name"] == "Renamed"
    archived = admin_api.put(path, body(name="Renamed", archived=True), if_match='"2"').json()
    assert (archived["archived"], archived["version"]) == (True, 3)
    assert admin_api.delete(path).status_code == 204
    assert admin_api.get(path).status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"expectations": []}, "expectations"),
        ({"expectations": [{"kind": "include"}]}, "expectations"),
        ({"expectations": [{"kind": "maybe", "text": "x"}]}, "expectations"),
        ({"expectations": [{"kind": "include", "text": "x", "ref": "memory:1"}]}, "expectations"),
        ({"expectations": [{"kind": "include", "ref": "memory:1"}]}, "expectations"),
        ({"expectations": [{"kind": "include", "text": "x"}] * 21}, "expectations"),
        ({"expectations": "text"}, "expectations"),
        ({"profile": "missing"}, "profile"),
        ({"name": " "}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"more": 1}, "more"),
        ({"agent": ""}, "agent"),
    ],
)
def test_bad_values_are_refused(admin_api: Api, agent: Agent, changes: dict[str, Any], field: str) -> None:
    answer = admin_api.post("recall-tests", body(**{"agent": "ada", **changes}))
    assert answer.status_code == 422, answer.content
    assert {name.partition(".")[0] for name in errors_of(answer)} == {field}


def test_a_test_is_run_and_its_results_are_listed(admin_api: Api, refund_test: RecallTest, memory: Memory) -> None:
    ran = admin_api.post(f"recall-tests/{refund_test.id}/run")
    assert ran.status_code == 200, ran.content
    document = ran.json()
    assert (document["passed"], document["not_run"]) == (True, 0)
    (result,) = document["results"]
    assert (result["agent"], result["trigger"], result["error"], result["test_version"]) == ("ada", "request", "", 1)
    assert [one["passed"] for one in result["expectations"]] == [True, True]
    assert all(one["reason"] for one in result["expectations"])
    listed = admin_api.get(f"recall-tests/{refund_test.id}/results").json()["results"]
    assert [one["id"] for one in listed] == [result["id"]]


def test_a_key_sees_the_results_of_its_own_agent_alone(refund_test: RecallTest, team: Team, agent_api: Api) -> None:
    agent_create(slug="ben", name="Ben", teams=[team])
    recall_test_run(test=refund_test, principal=SYSTEM)
    listed = agent_api.get(f"recall-tests/{refund_test.id}/results").json()["results"]
    assert [one["agent"] for one in listed] == ["ada"]
    ran = agent_api.post(f"recall-tests/{refund_test.id}/run").json()
    assert [one["agent"] for one in ran["results"]] == ["ada"]


def test_a_context_becomes_a_test(admin_api: Api, agent: Agent, team: Team, memory: Memory) -> None:
    asked = AssemblyRequest(topic="When do couriers collect parcels?")
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    answer = admin_api.post(f"assemblies/{assembly.id}/recall-test", {"refs": [memory.ref]})
    assert answer.status_code == 201, answer.content
    document = answer.json()
    assert (document["topic"], document["team"], document["agent"]) == (asked.topic, "care", "ada")
    assert [one["ref"] for one in document["expectations"]] == [f"memory:{memory.id}"]


def test_outsiders_find_nothing(refund_test: RecallTest) -> None:
    other = agent_create(slug="other", name="Other", teams=[team_create(slug="else", name="Else")])
    api = Api(api_key_create(agent=other, principal=SYSTEM)[1])
    for path in (f"recall-tests/{refund_test.id}", f"recall-tests/{refund_test.id}/results"):
        assert problem(api.get(path))[0] == 404
    assert problem(api.post(f"recall-tests/{refund_test.id}/run"))[0] == 404
    assert problem(api.post(f"assemblies/{NOBODY}/recall-test", {}))[0] == 404
    assert api.get("recall-tests").json()["results"] == []


@pytest.mark.parametrize("owned", [{"agent": "ada"}, {"team": "care"}, {"team": "care", "agent": "ada"}])
def test_an_agents_key_leaves_the_tests_of_people_alone(
    owned: dict[str, str], agent: Agent, team: Team, editor: User, admin_api: Api
) -> None:
    key = Api(api_key_create(agent=agent, scopes=["read", "files:write", "team-files:write"], principal=SYSTEM)[1])
    for api in (Api(person=editor.principal), admin_api):
        path = f"recall-tests/{api.post('recall-tests', body(**owned)).json()['id']}"
        for answer in (key.delete(path), key.put(path, body(archived=True), if_match='"1"')):
            assert problem(answer)[0] == 403
            assert "create a test of your own" in answer.json()["detail"]
        assert admin_api.get(path).json()["version"] == 1
    mine = f"recall-tests/{key.post('recall-tests', body(**owned)).json()['id']}"
    assert key.put(mine, body(name="Mine"), if_match='"1"').status_code == 200
    assert Api(person=editor.principal).put(mine, body(name="Ours"), if_match='"2"').status_code == 200
    assert key.delete(mine).status_code == 403
    team = team_update(team=team, expected_version=team.version, name=team.name, agents_may_change_texts=True)
    allowed = "team" in owned
    assert key.put(mine, body(name="Mine"), if_match='"3"').status_code == (200 if allowed else 403)
    team_update(team=team, expected_version=team.version, name=team.name, agents_may_change_texts=False)
    assert key.delete(mine).status_code == 403, "what people wrote remains theirs"
    assert key.delete(f"recall-tests/{key.post('recall-tests', body(**owned)).json()['id']}").status_code == 204
