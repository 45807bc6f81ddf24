"""REST: budgets of time and quality, where nothing hangs: what a context says of itself, and what is refused."""

from typing import Any

import pytest

from agents.models import Agent
from teams.models import Team
from tests.assembly.contexts.test_deadlines_api import BODY
from tests.assembly.failing_sources import raising, replaced
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]


@pytest.fixture
def mira(press: tuple[Agent, Team]) -> Agent:
    return press[0]


def codes_of(api: Api, **body: Any) -> list[str]:
    answer = api.post("assemblies", {**BODY, **body})
    assert answer.status_code == 201, answer.content
    return [warning["code"] for warning in answer.json()["warnings"]]


def test_a_context_of_little_worth_says_so(admin_api: Api, mira: Agent) -> None:
    best = {"budgets": {"quality_min": 0.9}}
    assert codes_of(admin_api, topic="zyx qwv", **best) == ["QUALITY_BELOW_MINIMUM"]
    assert codes_of(admin_api, topic="", profile="conversation", **best) == []
    assert codes_of(admin_api, topic="zyx qwv") == []
    answer = admin_api.post("assemblies", {**BODY, **best}).json()
    assert 0 <= answer["metadata"]["quality"] <= 1


def test_what_is_never_cut_may_exceed_the_budget_and_says_so(admin_api: Api, mira: Agent) -> None:
    assert codes_of(admin_api, max_tokens=1) == ["BUDGET_EXCEEDED"]


def test_codes_of_several_kinds_stand_together(admin_api: Api, mira: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, "relations", raising)
    best = {"budgets": {"quality_min": 1.0}}
    assert codes_of(admin_api, max_tokens=1, **best) == ["BUDGET_EXCEEDED", "QUALITY_BELOW_MINIMUM", "SOURCE_FAILED"]


def test_a_whole_answer_is_told_again_for_the_same_budgets_alone(admin_api: Api, mira: Agent) -> None:
    same = {**BODY, "budgets": {"time_ms": 20_000, "quality_min": 0.1}}
    first, again = (admin_api.post("assemblies", same).json() for _ in range(2))
    assert (first["repeat_of_id"], again["repeat_of_id"]) == (None, first["id"])
    other = admin_api.post("assemblies", {**BODY, "budgets": {"time_ms": 20_001, "quality_min": 0.1}}).json()
    assert other["repeat_of_id"] is None


@pytest.mark.parametrize(
    ("budgets", "field"),
    [
        ({"time_ms": 9}, "budgets.time_ms"),
        ({"time_ms": 60_001}, "budgets.time_ms"),
        ({"time_ms": -1}, "budgets.time_ms"),
        ({"time_ms": "soon"}, "budgets.time_ms"),
        ({"time_ms": 300.5}, "budgets.time_ms"),
        ({"time_ms": True}, "budgets.time_ms"),
        ({"time_ms": 10**400}, "budgets.time_ms"),
        ({"quality_min": 1.1}, "budgets.quality_min"),
        ({"quality_min": -0.1}, "budgets.quality_min"),
        ({"quality_min": "good"}, "budgets.quality_min"),
        ({"quality_min": []}, "budgets.quality_min"),
        ({"tokens": 5}, "budgets.tokens"),
        ([], "budgets"),
        ("300", "budgets"),
        (None, "budgets"),
    ],
    ids=str,
)
def test_budgets_that_mean_nothing_are_refused(admin_api: Api, mira: Agent, budgets: Any, field: str) -> None:
    assert errors_of(admin_api.post("assemblies", {**BODY, "budgets": budgets})) == {field}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_so_are_numbers_that_are_none(admin_api: Api, mira: Agent, number: str) -> None:
    body = b'{"agent": "mira", "budgets": {"quality_min": %s}}' % number.encode()
    assert admin_api.post("assemblies", body).status_code in {400, 422}


def test_budgets_help_nobody_to_an_agent_of_others(other_agent_api: Api, mira: Agent) -> None:
    assert problem(other_agent_api.post("assemblies", {**BODY, "budgets": {"time_ms": 300}})) == (404, "not_found")
