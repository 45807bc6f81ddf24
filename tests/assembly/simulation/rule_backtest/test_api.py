"""Trying rules over REST: who writes there tries a text, who reads a rule tries it as it is."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Assembly, StoredRule
from assembly.rules.services import rule_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.client import Api, errors_of, problem

pytestmark = pytest.mark.django_db

INSTRUCTED = "then: {exclude: [{path: KNOWLEDGE}, {source: team_files}]}\n"
GONE = "when:\n  agent: ada\nthen: {exclude: [{source: moons}]}\n"


@pytest.fixture
def told(agent: Agent, team: Team, agent_api: Api) -> str:
    """The id of a context that holds the goals of the team."""
    team.files.filter(file_key="GOALS").update(content="Answer within a day.")
    answer = agent_api.post("assemblies", {"agent": "ada", "team": "care", "topic": "refunds"})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def test_the_answer_says_what_would_have_changed(told: str, admin_api: Api) -> None:
    answer = admin_api.post("rules/backtest", {"content": INSTRUCTED, "team": "care"})
    assert answer.status_code == 200
    document = answer.json()
    counts = {name: document[name] for name in ("evaluated", "matched", "changed", "unreadable", "skipped")}
    assert counts == {"evaluated": 1, "matched": 1, "changed": 1, "unreadable": 0, "skipped": 0}
    (context,) = document["contexts"]
    facts = {"id": told, "agent": "ada", "team": "care", "topic": "refunds", "applied": False, "applies": True}
    assert context.items() >= {**facts, "warnings": []}.items()
    assert context["tokens_before"] > context["tokens_after"]
    (change,) = context["changes"]
    assert (change["ref"].partition(":")[0], change["effect"]) == ("team_file", "out")
    assert (change["before"]["code"], change["after"]["code"]) == ("fits", "rule_excluded")
    assert not StoredRule.objects.exists()
    assert Assembly.objects.count() == 1


def test_a_stored_rule_is_tried_as_it_is_or_with_another_text(told: str, admin_api: Api, team: Team) -> None:
    rule_create(name="quiet", content=INSTRUCTED, owner=team, enabled=False, principal=SYSTEM)
    assert admin_api.post("rules/backtest", {"name": "quiet"}).json()["changed"] == 1
    other = {"name": "quiet", "content": f"when: {{task_contains: [moon]}}\n{INSTRUCTED}"}
    assert admin_api.post("rules/backtest", other).json()["matched"] == 0


# Who may try: a text for the agent, the team, everybody; the stored rule of the team as it is, and with another text.
RIGHTS = {
    "admin": (200, 200, 200, 200, 200),
    "owner": (200, 200, 403, 200, 200),
    "editor": (200, 200, 403, 200, 200),
    "teammate": (403, 403, 403, 200, 403),
    "outsider": (404, 404, 403, 404, 404),
    "agent_api": (403, 403, 403, 200, 403),
    "other_agent_api": (404, 404, 403, 404, 404),
    "anonymous_api": (401, 401, 401, 401, 401),
}


@pytest.mark.parametrize("who", RIGHTS)
def test_everybody_is_answered_as_the_table_says(
    who: str, told: str, team: Team, as_person: Callable[[User], Api], request: pytest.FixtureRequest
) -> None:
    rule_create(name="quiet", content=INSTRUCTED, owner=team, principal=SYSTEM)
    asking = request.getfixturevalue(who)
    api = asking if isinstance(asking, Api) else as_person(asking)
    bodies: list[dict[str, str]] = [
        {"content": INSTRUCTED, "agent": "ada"},
        {"content": INSTRUCTED, "team": "care"},
        {"content": INSTRUCTED},
        {"name": "quiet"},
        {"name": "quiet", "content": INSTRUCTED},
    ]
    assert tuple(api.post("rules/backtest", body).status_code for body in bodies) == RIGHTS[who]


def test_only_contexts_that_one_may_see_are_tried(told: str, other_agent_api: Api, agent_api: Api) -> None:
    rule_create(name="all", content=INSTRUCTED, owner=None, principal=SYSTEM)
    assert other_agent_api.post("rules/backtest", {"name": "all"}).json()["contexts"] == []
    assert [row["id"] for row in agent_api.post("rules/backtest", {"name": "all"}).json()["contexts"]] == [told]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "content"),
        ({"agent": "ada"}, "content"),
        ({"content": "", "agent": "ada"}, "content"),
        ({"content": GONE, "agent": "ada"}, "content"),
        ({"content": "\x00"}, "content"),
        ({"content": "x" * 100_001}, "content"),
        ({"content": INSTRUCTED, "agent": "ada", "team": "care"}, "team"),
        ({"name": "quiet", "agent": "ada"}, "agent"),
        ({"name": "quiet", "team": "care"}, "team"),
        ({"name": "Quiet"}, "name"),
        ({"content": INSTRUCTED, "colour": "red"}, "colour"),
    ],
)
def test_bad_values_are_named(body: dict[str, Any], field: str, agent: Agent, admin_api: Api) -> None:
    assert errors_of(admin_api.post("rules/backtest", body)) == {field}


def test_a_stored_rule_that_cannot_be_read_any_more_says_so(agent: Agent, admin_api: Api) -> None:
    file_create(file=StoredRule(name="lost", content=GONE), author=SYSTEM.author)
    answer = admin_api.post("rules/backtest", {"name": "lost"})
    assert errors_of(answer) == {"content"}
    assert answer.json()["detail"].startswith("Line 3: “source” must be one of")


def test_what_is_not_there_is_a_404(admin_api: Api) -> None:
    assert problem(admin_api.post("rules/backtest", {"name": "nobody"})) == (404, "not_found")
