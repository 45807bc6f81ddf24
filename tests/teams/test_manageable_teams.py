"""Which teams somebody may read, edit and manage: one answer, for forms, pages, the API, imports and services."""

import re
from pathlib import Path

import pytest

from agents.access import agent_for, manages_all_teams
from agents.authentication import principal_of_key
from agents.forms import AgentForm, AgentSettingsForm
from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create, agent_update
from assembly.monitoring.webhooks.services import WebhookNewForm
from config.http.errors import Forbidden, NotFound
from teams.access import is_permitted, require_manager
from teams.models import Team, User
from teams.principal import SYSTEM, Action, Principal
from teams.services import team_create
from tests.client import Api, problem

ROOT = Path(__file__).parents[2]
HERE, THERE, ELSEWHERE = "admin-here", "editor-there", "viewer-elsewhere"
READ = {HERE, THERE, ELSEWHERE}

pytestmark = [pytest.mark.django_db, pytest.mark.finding("1")]


def slugs(teams: "object") -> list[str]:
    return sorted(team.slug for team in teams)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("action", "allowed"),
    [(Action.READ, READ), (Action.WRITE, {HERE, THERE}), (Action.EDIT, {HERE, THERE}), (Action.MANAGE, {HERE})],
)
def test_each_action_is_allowed_where_the_own_role_allows_it(mixed: User, action: Action, allowed: set[str]) -> None:
    team_create(slug="hidden", name="Hidden")
    assert slugs(Team.objects.permitting(action, mixed.principal)) == sorted(allowed)
    assert {team.slug for team in Team.objects.all() if is_permitted(mixed.principal, team, action)} == allowed
    assert {agent.slug for agent in Agent.objects.permitting(action, mixed.principal)} == {
        f"agent-{slug.rpartition('-')[2]}" for slug in allowed
    }


def test_admins_keys_and_the_system_have_their_answers(mixed: User, admin: User) -> None:
    everything = slugs(Team.objects.all())
    admin_key = principal_of_key(api_key_create(agent=None)[1])
    agent = Agent.objects.get(slug="agent-here")
    agent_key = principal_of_key(api_key_create(agent=agent)[1])
    writing_key = principal_of_key(api_key_create(agent=agent, scopes=["team-files:write"])[1])
    assert admin_key
    assert agent_key
    assert writing_key
    for principal in (admin.principal, admin_key, SYSTEM):
        assert slugs(Team.objects.manageable_by(principal)) == everything
    for key, edits in ((agent_key, []), (writing_key, [HERE])):
        assert slugs(Team.objects.visible_to(key)) == [HERE]
        assert slugs(Team.objects.editable_by(key)) == edits
        assert slugs(Team.objects.manageable_by(key)) == []


def test_forms_offer_the_teams_that_one_manages_once_each(mixed: User) -> None:
    Agent.objects.get(slug="agent-here").teams.set(Team.objects.all())
    for form in (AgentSettingsForm(principal=mixed.principal), AgentForm(principal=mixed.principal)):
        assert slugs(form.fields["teams"].queryset) == [HERE]  # type: ignore[attr-defined]
    webhook = WebhookNewForm(principal=mixed.principal)
    assert slugs(webhook.fields["team"].queryset) == [HERE]  # type: ignore[attr-defined]


@pytest.mark.parametrize("slug", [THERE, ELSEWHERE])
def test_a_service_refuses_a_forged_list_of_teams(mixed: User, slug: str) -> None:
    agent, other = Agent.objects.get(slug="agent-here"), Team.objects.get(slug=slug)
    with pytest.raises(Forbidden):
        moved(agent, [*agent.teams.all(), other], mixed.principal)
    shared = agent_create(slug="shared", name="Shared", teams=[Team.objects.get(slug=HERE), other])
    with pytest.raises(Forbidden):
        moved(shared, list(Team.objects.filter(slug=HERE)), mixed.principal)
    assert slugs(shared.teams.all()) == sorted([HERE, slug])
    assert moved(shared, [other], mixed.principal).version == 2


def test_a_service_finds_no_team_that_one_cannot_see(mixed: User) -> None:
    hidden = team_create(slug="hidden", name="Hidden")
    agent = Agent.objects.get(slug="agent-here")
    with pytest.raises(NotFound):
        moved(agent, [*agent.teams.all(), hidden], mixed.principal)
    with pytest.raises(NotFound):
        agent_create(slug="new", name="New", teams=[hidden], principal=mixed.principal)
    require_manager(SYSTEM, [hidden])


@pytest.mark.parametrize("slug", [THERE, ELSEWHERE])
def test_rest_neither_puts_nor_takes_agents_where_one_is_no_admin(mixed: User, slug: str) -> None:
    api = Api(person=mixed.principal)
    answer = api.patch("agents/agent-here", {"teams": [HERE, slug]}, if_match='"1"')
    assert problem(answer) == (403, "forbidden")
    agent_create(slug="shared", name="Shared", teams=list(Team.objects.filter(slug__in=[HERE, slug])))
    assert problem(api.patch("agents/shared", {"teams": [HERE]}, if_match='"1"')) == (403, "forbidden")
    assert api.patch("agents/shared", {"teams": [slug]}, if_match='"1"').status_code == 200


def test_to_manage_one_team_of_an_agent_is_not_to_manage_all(mixed: User) -> None:
    agent = agent_for(mixed.principal, "agent-here", Action.MANAGE)
    assert manages_all_teams(mixed.principal, agent)
    agent.teams.add(Team.objects.get(slug=ELSEWHERE))
    assert not manages_all_teams(mixed.principal, agent)
    agent.teams.clear()
    assert not manages_all_teams(mixed.principal, agent)


def test_no_module_joins_memberships_to_ask_for_roles() -> None:
    """A second `filter` over joined memberships speaks of anybody's role; `permitting` alone compares roles."""
    joins = re.compile(r"memberships__(user|role)|role__in|\brole=Role\.|ROLES_FOR\[")
    apps = [ROOT / app for app in ("teams", "agents", "memories", "assembly", "config")]
    modules = [module for app in apps for module in app.rglob("*.py") if "migrations" not in module.parts]
    found = {
        (module.relative_to(ROOT).as_posix(), match)
        for module in modules
        for match in (hit[0] for hit in joins.finditer(module.read_text()))
    }
    assert found == {
        ("teams/models.py", "role__in"),
        ("teams/sensitivity.py", "role__in"),  # up to which level a person may read
        ("teams/models.py", "ROLES_FOR["),
        ("teams/services.py", "role=Role."),  # who creates a team becomes its admin
    }


def moved(agent: Agent, teams: list[Team], principal: Principal) -> Agent:
    return agent_update(
        agent=agent, expected_version=1, name=agent.name, timezone="UTC", teams=teams, principal=principal
    )
