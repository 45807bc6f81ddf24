"""Agents over REST."""

from collections.abc import Callable

import pytest

from agents.models import Agent, AgentFile, ApiKey, DailyLog
from agents.services import agent_create
from memories.models import Memory
from teams.models import Team, User
from teams.principal import Role
from teams.services import membership_set, team_create
from tests.client import Api, problem

pytestmark = pytest.mark.django_db


def test_an_admins_key_creates_an_agent_with_its_files(team: Team, admin_api: Api) -> None:
    body = {
        "slug": "luna", "name": "Luna", "teams": ["care", "care"], "instructions": " Be brief.\n",
        "timezone": "Europe/Berlin",
    }  # fmt: skip
    response = admin_api.post("agents", body)
    assert response.status_code == 201
    assert response["Location"] == "/api/v1/agents/luna"
    assert response.json() == admin_api.get("agents/luna").json()
    assert response.json().items() >= {"teams": ["care"], "timezone": "Europe/Berlin", "version": 1}.items()
    files = {row["key"]: row["content"] for row in admin_api.get("agents/luna/files").json()["results"]}
    assert files == {"IDENTITY": "", "INSTRUCTIONS": " Be brief.\n", "KNOWLEDGE": ""}


def test_a_slug_is_taken_once(agent: Agent, admin_api: Api) -> None:
    assert problem(admin_api.post("agents", {"slug": "ada", "name": "Again"})) == (409, "conflict")


def test_a_team_that_is_not_there_is_a_404(admin_api: Api) -> None:
    assert problem(admin_api.post("agents", {"slug": "luna", "name": "Luna", "teams": ["none"]})) == (404, "not_found")
    assert not Agent.objects.exists()


def test_an_agents_key_creates_no_agents(agent_api: Api) -> None:
    assert problem(agent_api.post("agents", {"slug": "luna", "name": "Luna"})) == (403, "forbidden")


def test_an_agents_key_changes_neither_itself_nor_deletes(agent_api: Api) -> None:
    assert problem(agent_api.patch("agents/ada", {"name": "Root"}, if_match='"1"')) == (403, "forbidden")
    assert problem(agent_api.delete("agents/ada")) == (403, "forbidden")


def test_deleting_an_agent_takes_all_that_it_owns(agent: Agent, agent_api: Api, admin_api: Api) -> None:
    agent_api.post("agents/ada/daily-logs/2026-01-05", {"text": "x"})
    agent_api.post("agents/ada/memories", {"kind": "fact", "text": "x"})
    assert admin_api.delete("agents/ada").status_code == 204
    for rows in (AgentFile.objects, DailyLog.objects, Memory.objects, ApiKey.objects.exclude(agent=None)):
        assert not rows.exists()
    assert problem(agent_api.get("agents")) == (401, "not_authenticated")


def test_teams_that_one_cannot_see_are_neither_shown_nor_lost(
    agent: Agent, owner: User, admin_api: Api, as_person: Callable[[User], Api]
) -> None:
    agent.teams.add(team_create(slug="secret", name="Secret"))
    api = as_person(owner)
    assert api.get("agents/ada").json()["teams"] == ["care"]
    assert api.patch("agents/ada", {"teams": []}, if_match='"1"').status_code == 200
    assert admin_api.get("agents/ada").json()["teams"] == ["secret"]


def test_who_moves_an_agent_between_teams_must_be_an_admin_of_both(
    agent: Agent, owner: User, as_person: Callable[[User], Api]
) -> None:
    near = team_create(slug="near", name="Near")
    api = as_person(owner)
    into_near = ("agents/ada", {"teams": ["care", "near"]})
    assert problem(api.patch(*into_near, if_match='"1"')) == (404, "not_found")
    membership_set(team=near, user=owner, role=Role.EDITOR)
    assert problem(api.patch(*into_near, if_match='"1"')) == (403, "forbidden")
    membership_set(team=near, user=owner, role=Role.ADMIN)
    assert api.patch(*into_near, if_match='"1"').json()["teams"] == ["care", "near"]


@pytest.mark.finding("5.4")
def test_a_shared_agent_is_deleted_by_an_admin_of_all_its_teams_alone(
    mixed: User, admin_api: Api, as_person: Callable[[User], Api]
) -> None:
    here, there = (Team.objects.get(slug=slug) for slug in ("admin-here", "editor-there"))
    agent_create(slug="shared", name="Shared", teams=[here, there])
    api = as_person(mixed)
    answer = api.delete("agents/shared")
    assert problem(answer) == (403, "forbidden")
    assert "Editor there" in answer.json()["detail"]
    assert api.patch("agents/shared", {"teams": ["editor-there"]}, if_match='"1"').status_code == 200
    assert problem(api.delete("agents/shared")) == (403, "forbidden")
    assert admin_api.delete("agents/shared").status_code == 204
    assert api.delete("agents/agent-here").status_code == 204
