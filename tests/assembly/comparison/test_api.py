"""Recorded contexts over REST: again today, with something changed, and beside one another."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services import agent_delete
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

LONG = "\n\n".join(["Answer within a day, and say what happens next."] * 60)
NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def told(agent: Agent, team: Team) -> Assembly:
    """A context of the agent in its team, which keep a few things."""
    facts = [MemoryFacts(kind="fact", text=f"Refund {number} is on its way") for number in range(3)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)
    file_save(file=team.files.get(file_key="GOALS"), content="Be quick.", expected_version=1, author=SYSTEM.author)
    return _told(agent, team)


def _told(agent: Agent, team: Team, **options: Any) -> Assembly:
    asked = AssemblyRequest(**{"topic": "refund", "max_tokens": 600, **options})
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly


def changed(team: Team, owner: User, content: str = LONG) -> None:
    goals = team.files.get(file_key="GOALS")
    author = owner.principal.author
    file_save(file=goals, content=content, expected_version=goals.version, author=author, note="for spring")


def test_again_today_explains_each_difference(told: Assembly, team: Team, owner: User, agent_api: Api) -> None:
    changed(team, owner)
    answer = agent_api.get(f"assemblies/{told.id}/rerun?include=content")
    assert answer.status_code == 200, answer.content
    document = answer.json()
    (cause,) = document["causes"]
    assert (cause["kind"], cause["name"], cause["before"], cause["after"]) == ("file_changed", "GOALS", 2, 3)
    assert (cause["changed_by"]["name"], cause["note"]) == ("Olga Owner", "for spring")
    assert cause["message"].startswith("Goals: version 2 → version 3 by Olga Owner on ")
    assert all(change["causes"] for change in document["changes"])
    assert "preceding_sections" in {one["kind"] for change in document["changes"] for one in change["causes"]}
    assert document["before"]["sha256"] == bytes(told.sha256).hex()
    assert "Be quick." in document["before"]["content"]
    assert document["after"]["tokens"] <= 600
    assert document["difference"]["words_added"] > 0
    assert "day" not in {setting["name"] for setting in document["settings"]}
    assert not document["same"]


def test_again_today_is_the_same_where_nothing_changed(told: Assembly, agent_api: Api) -> None:
    document = agent_api.get(f"assemblies/{told.id}/rerun").json()
    assert (document["same"], document["changes"], document["causes"]) == (True, [], [])
    assert document["summary"] == "Both texts are identical."
    assert "content" not in document["after"]


def test_what_if_says_what_it_is_based_on(told: Assembly, agent_api: Api) -> None:
    rows = Assembly.objects.count()
    small = agent_api.post(f"assemblies/{told.id}/what-if", {"max_tokens": 40, "include": ["content"]}).json()
    assert small["basis"] == "record"
    assert small["after"]["tokens"] <= 40 < small["before"]["tokens"]
    assert small["settings"] == [{"name": "budget", "section": None, "before": "600", "after": "40"}]
    assert {change["effect"] for change in small["changes"]} >= {"out"}
    other = agent_api.post(f"assemblies/{told.id}/what-if", {"topic": "the weather"}).json()
    assert other["basis"] == "today"
    assert other["after"]["topic"] == "the weather"
    assert Assembly.objects.count() == rows


def test_all_wishes_at_once(told: Assembly, team: Team, owner: User, agent_api: Api) -> None:
    changed(team, owner)
    wishes = {
        "max_tokens": 900,
        "tokenizer": "chars4",
        "profile": "conversation",
        "topic": "refund",
        "caps": {"knowledge": 10, "recent_activity": None},
        "without_rules": [],
        "with_rule": "then: {exclude: [{memory_kind: fact}]}",
        "files": {"GOALS": 3},
    }
    document = agent_api.post(f"assemblies/{told.id}/what-if", wishes).json()
    assert document["basis"] == "record", document
    assert document["after"]["rules"] == ["tried@1"]
    assert {setting["name"] for setting in document["settings"]} >= {"budget", "tokenizer", "rules", "section"}


@pytest.mark.parametrize(
    ("wishes", "field"),
    [
        ({}, "overrides"),
        ({"max_tokens": 200_001}, "max_tokens"),
        ({"max_tokens": None}, "max_tokens"),
        ({"tokenizer": "abacus"}, "tokenizer"),
        ({"profile": "nope"}, "profile"),
        ({"topic": "x" * 4_001}, "topic"),
        ({"caps": {"nope": 1}}, "caps"),
        ({"caps": {"recent_activity": -1}}, "caps.recent_activity"),
        ({"caps": {f"s{number}": 1 for number in range(51)}}, "caps"),
        ({"without_rules": ["nope"]}, "without_rules"),
        ({"with_rule": "then: 1"}, "with_rule"),
        ({"with_rule": ""}, "with_rule"),
        ({"files": {"NOTES": 1}}, "files"),
        ({"files": {"GOALS": 0}}, "files.GOALS"),
        ({"files": {"GOALS": 2**31}}, "files.GOALS"),
        ({"files": {"GOALS": 50}}, "files.GOALS"),
        ({"surprise": 1}, "surprise"),
        ({"max_tokens": 1, "include": ["secrets"]}, "include.0"),
    ],
)
def test_wishes_that_cannot_be_are_named(wishes: Any, field: str, told: Assembly, agent_api: Api) -> None:
    assert errors_of(agent_api.post(f"assemblies/{told.id}/what-if", wishes)) == {field}


def test_any_two_are_compared(told: Assembly, agent: Agent, team: Team, agent_api: Api) -> None:
    other = _told(agent, team, topic="", max_tokens=60, tokenizer="chars4")
    document = agent_api.get(f"assemblies/compare?before={told.id}&after={other.id}").json()
    assert (document["before_id"], document["after_id"]) == (str(told.id), str(other.id))
    assert {setting["name"] for setting in document["settings"]} == {"topic", "budget", "tokenizer"}
    assert document["after"]["tokens"] == other.tokens
    assert all(change["causes"] for change in document["changes"])
    assert "topic_changed" in {cause["kind"] for change in document["changes"] for cause in change["causes"]}
    same = agent_api.get(f"assemblies/compare?before={told.id}&after={told.id}").json()
    assert (same["same"], same["changes"], same["settings"]) == (True, [], [])


def test_two_contexts_tell_what_changed_between_them(
    told: Assembly, agent: Agent, team: Team, owner: User, agent_api: Api
) -> None:
    changed(team, owner)
    other = _told(agent, team)
    changed(team, owner, "Be quicker.")
    for before, after in ((told, other), (other, told)):
        document = agent_api.get(f"assemblies/compare?before={before.id}&after={after.id}").json()
        (cause,) = document["causes"]
        assert (cause["kind"], cause["before"], cause["after"]) == ("file_changed", 2, 3)
        assert cause["changed_by"]["name"] == "Olga Owner"
        assert cause["message"].startswith("Goals: version 2 → version 3 by Olga Owner on ")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "before"),
        ("before=1", "before"),
        (f"before={NOBODY}", "after"),
        (f"before={NOBODY}&after={NOBODY}&x=1", "x"),
        (f"before={NOBODY}&after={NOBODY}&include=all", "include"),
    ],
)
def test_a_question_that_names_no_two_is_refused(query: str, field: str, agent_api: Api) -> None:
    assert errors_of(agent_api.get(f"assemblies/compare?{query}")) == {field}


RIGHTS = {
    "admin": 200,
    "owner": 200,
    "editor": 200,
    "teammate": 200,  # may read all that a context is made of; nothing is stored
    "outsider": 404,
    "agent_api": 200,
    "other_agent_api": 404,
    "admin_api": 200,
    "anonymous_api": 401,
}


@pytest.mark.parametrize("who", RIGHTS)
def test_everybody_is_answered_as_the_table_says(
    who: str, told: Assembly, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    assert api.get(f"assemblies/{told.id}/rerun").status_code == RIGHTS[who]
    assert api.post(f"assemblies/{told.id}/what-if", {"max_tokens": 90}).status_code == RIGHTS[who]
    assert api.get(f"assemblies/compare?before={told.id}&after={told.id}").status_code == RIGHTS[who]


def test_a_context_that_is_not_there_is_not_found(told: Assembly, agent_api: Api) -> None:
    assert problem(agent_api.get(f"assemblies/{NOBODY}/rerun")) == (404, "not_found")
    assert problem(agent_api.post(f"assemblies/{NOBODY}/what-if", {"max_tokens": 1})) == (404, "not_found")
    assert problem(agent_api.get(f"assemblies/compare?before={told.id}&after={NOBODY}")) == (404, "not_found")


def test_nobody_left_is_a_clear_answer(told: Assembly, agent: Agent, admin_api: Api) -> None:
    agent_delete(agent=agent, principal=SYSTEM)
    assert problem(admin_api.get(f"assemblies/{told.id}/rerun")) == (409, "agent_deleted")
    assert problem(admin_api.post(f"assemblies/{told.id}/what-if", {"topic": "x"})) == (409, "agent_deleted")
    assert admin_api.post(f"assemblies/{told.id}/what-if", {"max_tokens": 9}).status_code == 200


@pytest.fixture
def edited(team: Team, owner: User) -> None:
    changed(team, owner)


@pytest.mark.parametrize(("wishes", "most"), [(None, 26), ({"max_tokens": 90}, 10), ({"files": {"GOALS": 2}}, 11)])
def test_the_queries_are_few(wishes: Any, most: int, told: Assembly, edited: None, agent_api: Api) -> None:
    with CaptureQueriesContext(connection) as captured:
        address = f"assemblies/{told.id}"
        answer = agent_api.post(f"{address}/what-if", wishes) if wishes else agent_api.get(f"{address}/rerun")
    assert answer.status_code == 200
    assert len(captured) <= most
