"""Whose memory a request may ask for: a key of an agent speaks for its agent; nobody learns what they may not see."""

from collections.abc import Callable

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from assembly.models import Assembly
from teams.models import Team, User
from tests.assembly.contract.contract_checks import ask, sent
from tests.client import Api, errors_of, problem

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]


def test_a_key_speaks_for_its_own_agent_alone(mira_api: Api, agent: Agent) -> None:
    assert ask(mira_api, "own", agent="mira")["metadata"]["agent"] == "mira"
    assert problem(sent(mira_api, agent="ada")) == (404, "not_found")
    assert problem(sent(mira_api, agent="nobody")) == (404, "not_found")
    assert problem(sent(mira_api, team="care")) == (404, "not_found")


def test_an_admins_key_must_name_the_agent(mira: Agent, admin_api: Api) -> None:
    assert errors_of(sent(admin_api)) == {"agent"}
    assert ask(admin_api, agent="mira")["metadata"]["team"] == "press"
    assert problem(sent(admin_api, "two", agent="mira", team="nowhere")) == (404, "not_found")


def test_without_a_key_there_is_no_answer(mira: Agent, anonymous_api: Api) -> None:
    assert problem(sent(anonymous_api, agent="mira")) == (401, "not_authenticated")


def test_people_ask_for_the_agents_that_they_see(
    agent: Agent, teammate: User, outsider: User, as_person: Callable[[User], Api]
) -> None:
    assert ask(as_person(teammate), agent="ada")["metadata"]["team"] == "care"
    assert problem(sent(as_person(outsider), agent="ada")) == (404, "not_found")
    assert errors_of(sent(as_person(teammate), "two")) == {"agent"}


def test_the_only_team_of_an_agent_is_meant_unless_the_request_says_none(mira_api: Api, mira: Agent) -> None:
    assert ask(mira_api, "default")["metadata"]["team"] == "press"
    assert ask(mira_api, "none", team=None)["metadata"]["team"] is None
    assert ask(mira_api, "named", team="press")["metadata"]["team"] == "press"


def test_of_several_teams_none_is_meant(mira: Agent, mira_api: Api, team: Team) -> None:
    mira.teams.add(team)
    assert ask(mira_api)["metadata"]["team"] is None


def test_a_team_that_the_key_does_not_reach_is_not_meant(mira: Agent) -> None:
    press = mira.teams.get()
    mira.teams.clear()
    api = Api(api_key_create(agent=mira)[1])
    mira.teams.add(press)
    assert ask(api)["metadata"]["team"] is None
    assert problem(sent(api, "two", team="press")) == (404, "not_found")


def test_a_team_in_which_the_agent_does_not_work_is_refused(mira: Agent, admin_api: Api, team: Team) -> None:
    assert errors_of(sent(admin_api, agent="mira", team="care")) == {"team"}
    assert not Assembly.objects.exists()


def test_the_schemas_need_no_key_and_may_be_cached(anonymous_api: Api) -> None:
    for name, title in (
        ("memory-request.v0.json", "MemoryRequest.v0"),
        ("assembled-context.v0.json", "AssembledContext.v0"),
    ):
        answer = anonymous_api.get(f"schemas/{name}")
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/schema+json")
        assert (answer.json()["title"], answer.json()["$id"]) == (title, f"/api/v1/schemas/{name}")
        assert answer["Cache-Control"] == "public, max-age=86400"
        again = anonymous_api.get(f"schemas/{name}", if_none_match=answer["ETag"])
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    assert problem(anonymous_api.get("schemas/other.json")) == (404, "not_found")
