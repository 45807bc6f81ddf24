"""REST: assembling, reading, deciding, replaying; and who may."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from assembly.models import Assembly, StoredText
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import team_create
from tests.assembly.recorded_decisions import decided
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db
PATHS = ["assemblies/{}", "assemblies/{}/decisions", "assemblies/{}/replay"]


def assembled(api: Api, **body: Any) -> dict[str, Any]:
    response = api.post("assemblies", {"agent": "ada", **body})
    assert response.status_code == 201, response.content
    document: dict[str, Any] = json.loads(response.content)
    return document


def test_an_agent_asks_with_its_own_key(agent_api: Api, team: Team) -> None:
    assembly = assembled(agent_api, team="care")
    assert assembly["content"] == "## Instructions\nBe kind."
    assert assembly["metadata"]["considered"] == 6
    assert json.loads(agent_api.get(f"assemblies/{assembly['id']}").content) == assembly


def test_the_answer_says_where_the_record_is(agent_api: Api) -> None:
    response = agent_api.post("assemblies", {"agent": "ada"})
    assert response["Location"] == f"/api/v1/assemblies/{json.loads(response.content)['id']}"


def test_each_decision_has_its_reason_in_words(agent_api: Api, agent: Agent) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Number {number}") for number in range(7)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assembly = assembled(agent_api)
    page = json.loads(agent_api.get(f"assemblies/{assembly['id']}/decisions?limit=200").content)
    by_code: dict[str, list[dict[str, Any]]] = {}
    for decision in page["results"]:
        by_code.setdefault(decision["code"], []).append(decision)
    assert {code: len(found) for code, found in by_code.items()} == {
        "empty": 2, "required": 1, "fits": 5, "outranked": 2,
    }  # fmt: skip
    assert by_code["outranked"][0]["reason"].startswith("Ranked 6; the limit of Personal Memories is 5.")
    assert sum(decision["tokens"] for decision in page["results"]) == assembly["tokens"]


def test_decisions_come_page_by_page(agent_api: Api) -> None:
    assembly = assembled(agent_api)
    seen, address = [], f"/api/v1/assemblies/{assembly['id']}/decisions?limit=2"
    while address:
        page = json.loads(agent_api.get(address).content)
        seen += [decision["position"] for decision in page["results"]]
        address = page["next"]
    assert seen == [0, 1, 2]


def test_the_list_is_newest_first_and_can_be_narrowed(admin_api: Api, agent: Agent, team: Team) -> None:
    first, second = assembled(admin_api), assembled(admin_api, team="care")
    listed = json.loads(admin_api.get("assemblies").content)["results"]
    assert [assembly["id"] for assembly in listed] == [second["id"], first["id"]]
    narrowed = json.loads(admin_api.get("assemblies?agent=ada&team=care").content)["results"]
    assert [assembly["id"] for assembly in narrowed] == [second["id"]]
    assert errors_of(admin_api.get("assemblies?colour=red")) == {"colour"}


def test_a_repeat_with_the_same_idempotency_key_gets_the_same_assembly(agent_api: Api) -> None:
    answers = [agent_api.post("assemblies", {"agent": "ada"}, idempotency_key="one") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert answers[1]["Idempotency-Replayed"] == "true"
    assert Assembly.objects.count() == 1
    assert problem(agent_api.post("assemblies", {"agent": "ada", "topic": "x"}, idempotency_key="one")) == (
        422, "idempotency_key_reused",
    )  # fmt: skip


@pytest.mark.parametrize("budget", [0, 1, 3, 200_000])
def test_every_budget_in_range_is_kept(agent_api: Api, budget: int) -> None:
    assembly = assembled(agent_api, max_tokens=budget)
    required = assembly["tokens"] > budget
    assert [warning["code"] for warning in assembly["warnings"]] == (["BUDGET_EXCEEDED"] if required else [])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 200_001}, "max_tokens"),
        ({"max_tokens": 10**30}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"max_tokens": [1]}, "max_tokens"),
        ({"topic": "a\x00b"}, "topic"),
        ({"topic": "\ud800"}, "topic"),
        ({"topic": "x" * 4001}, "topic"),
        ({"topic": {"a": 1}}, "topic"),
        ({"profile": "nope"}, "profile"),
        ({"tokenizer": "nope"}, "tokenizer"),
        ({"tokenizer": "gpt2\x00"}, "tokenizer"),
        ({"now": "yesterday"}, "now"),
        ({"now": "2026-02-30T00:00:00Z"}, "now"),
        ({"now": "0001-01-01T00:00:00Z"}, "now"),
        ({"now": "9999-12-31T23:59:59-12:00"}, "now"),
        ({"colour": "red"}, "colour"),
        ({"agent": None}, "agent"),
        ({"agent": 17.5, "team": []}, "team"),
    ],
)
def test_bad_values_are_named_and_nothing_is_recorded(agent_api: Api, body: dict[str, Any], field: str) -> None:
    response = agent_api.post("assemblies", {"agent": "ada", **body})
    assert field in errors_of(response)
    assert not Assembly.objects.exists()
    assert not StoredText.objects.exists()


def test_a_team_that_the_agent_is_not_in_is_refused_with_what_to_do(admin_api: Api, agent: Agent) -> None:
    team_create(slug="elsewhere", name="Elsewhere")
    response = admin_api.post("assemblies", {"agent": "ada", "team": "elsewhere"})
    assert errors_of(response) == {"team"}
    assert "Choose one of its teams" in response.content.decode()


@pytest.mark.parametrize("named", [{"agent": "nobody"}, {"agent": "eve"}, {"team": "far"}, {"team": "nowhere"}])
def test_what_one_may_not_see_is_not_found_also_in_a_body(
    agent_api: Api, other_agent_api: Api, named: dict[str, str]
) -> None:
    assert problem(agent_api.post("assemblies", {"agent": "ada", **named})) == (404, "not_found")
    assert not Assembly.objects.exists()


@pytest.mark.parametrize("path", PATHS)
def test_an_assembly_of_others_is_as_if_it_did_not_exist(
    agent_api: Api, other_agent_api: Api, anonymous_api: Api, path: str
) -> None:
    assembly = assembled(agent_api)
    method = "POST" if path.endswith("replay") else "GET"
    there = other_agent_api.send(method, path.format(assembly["id"]))
    nowhere = other_agent_api.send(method, path.format(uuid4()))
    hidden, missing = (json.loads(answer.content) | {"request_id": ""} for answer in (there, nowhere))
    assert hidden == missing
    assert problem(there) == (404, "not_found")
    assert problem(anonymous_api.send(method, path.format(assembly["id"])))[0] == 401
    assert json.loads(other_agent_api.get("assemblies").content)["results"] == []


def test_an_assembly_in_a_team_that_one_does_not_see_is_not_seen(
    admin_api: Api, agent: Agent, team: Team, teammate: User, as_person: Callable[[User], Api]
) -> None:
    other = team_create(slug="other", name="Other")
    both = agent_create(slug="both", name="Both", teams=[team, other])
    hidden, seen = assembled(admin_api, agent=both.slug, team="other"), assembled(admin_api, agent=both.slug)
    reader = as_person(teammate)
    assert problem(reader.get(f"assemblies/{hidden['id']}"))[0] == 404
    assert [found["id"] for found in json.loads(reader.get("assemblies").content)["results"]] == [seen["id"]]


def test_a_key_that_left_the_team_sees_its_assemblies_no_more(agent_api: Api, agent: Agent, team: Team) -> None:
    assembly = assembled(agent_api, team="care")
    agent.team_links.all().delete()
    assert problem(agent_api.get(f"assemblies/{assembly['id']}"))[0] == 404


def test_reading_takes_the_same_few_queries_for_many_decisions(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    api = Api(api_key_create(agent=agent)[1])
    facts = [MemoryFacts(kind="fact", text=f"Number {number}") for number in range(40)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assembly = assembled(api, topic="number")
    assert len(decided(Assembly.objects.all()[0])) > 20
    with django_assert_num_queries(3):  # key, assembly, pieces
        api.get(f"assemblies/{assembly['id']}")
    with django_assert_num_queries(3):
        api.get(f"assemblies/{assembly['id']}/decisions")
