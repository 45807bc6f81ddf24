"""The cast: an owner, a teammate who may read, an outsider, somebody with mixed roles, agents' keys, an admin.

Functions that fixtures are made of; arguments are fixtures of the same names. Most tests get the cast anew; large
tables, which change nothing that is not rolled back, have it built `once_per_module`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from teams.models import Team, User
from teams.principal import Role
from teams.services import membership_set, team_create
from tests.client import Api


def once_per_module(*functions: Callable[..., Any]) -> list[Any]:
    """Fixtures of these functions, built once and committed: for modules that use the fixture `module_database`."""
    return [pytest.fixture(scope="module")(function) for function in functions]


def admin() -> User:
    """An organisation admin."""
    return User.objects.create_user("admin", name="Grace Admin", is_admin=True)


def owner() -> User:
    """An admin of the team."""
    return User.objects.create_user("owner", name="Olga Owner")


def editor() -> User:
    return User.objects.create_user("editor", name="Edda Editor")


def teammate() -> User:
    """May read, and nothing else."""
    return User.objects.create_user("teammate", name="Theo Teammate")


def outsider() -> User:
    """Belongs to another team."""
    person = User.objects.create_user("outsider", name="Otto Outsider")
    membership_set(team=team_create(slug="elsewhere", name="Elsewhere"), user=person, role=Role.ADMIN)
    return person


def team(owner: User, editor: User, teammate: User) -> Team:
    """The team of most stories."""
    team = team_create(slug="care", name="Customer Care")
    for person, role in ((owner, Role.ADMIN), (editor, Role.EDITOR), (teammate, Role.VIEWER)):
        membership_set(team=team, user=person, role=role)
    return team


def mixed() -> User:
    """A person with a different role in each of three teams, which all have another admin and an agent.

    The person administers `admin-here` (agent `agent-here`), edits in `editor-there` and reads in `viewer-elsewhere`.
    """
    person = User.objects.create_user("mixed", name="Mina Mixed")
    other = User.objects.create_user("other-admin", name="Odin Other")
    for role, place in ((Role.ADMIN, "here"), (Role.EDITOR, "there"), (Role.VIEWER, "elsewhere")):
        team = team_create(slug=f"{role}-{place}", name=f"{role.label} {place}", principal=other.principal)
        membership_set(team=team, user=person, role=role)
        agent_create(slug=f"agent-{place}", name=f"Agent {place}", teams=[team])
    return person


def agent(team: Team) -> Agent:
    """The agent of most stories, which works in the team."""
    return agent_create(slug="ada", name="Ada", teams=[team], instructions="Be kind.")


def agent_api(agent: Agent) -> Api:
    """The agent's own key."""
    return Api(api_key_create(agent=agent, name="Ada's key")[1])


def other_agent_api() -> Api:
    """The key of an agent in another team."""
    far = team_create(slug="far", name="Far away")
    return Api(api_key_create(agent=agent_create(slug="eve", name="Eve", teams=[far]))[1])


def admin_api() -> Api:
    """An admin's key."""
    return Api(api_key_create(agent=None, name="Ops")[1])
