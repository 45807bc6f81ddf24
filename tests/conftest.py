"""The database of each worker, and the cast: an owner, a teammate who may read, an outsider, agents' keys, an admin."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from teams.models import Role, Team, User
from teams.services import membership_set, team_create
from tests.client import Api
from tests.postgres import cloned_database, connected_to


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: Any) -> Iterator[None]:
    """pytest-django's hook: instead of making test databases, this worker's clone of the template."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield


@pytest.fixture
def committed_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """A database of this test's own in which commits happen: for threads, servers, subprocesses and faults."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield name


@pytest.fixture
def admin() -> User:
    """An organisation admin."""
    return User.objects.create_user("admin", name="Grace Admin", is_admin=True)


@pytest.fixture
def owner() -> User:
    """An admin of the team."""
    return User.objects.create_user("owner", name="Olga Owner")


@pytest.fixture
def editor() -> User:
    return User.objects.create_user("editor", name="Edda Editor")


@pytest.fixture
def teammate() -> User:
    """May read, and nothing else."""
    return User.objects.create_user("teammate", name="Theo Teammate")


@pytest.fixture
def outsider() -> User:
    """Belongs to another team."""
    person = User.objects.create_user("outsider", name="Otto Outsider")
    membership_set(team=team_create(slug="elsewhere", name="Elsewhere"), user=person, role=Role.ADMIN)
    return person


@pytest.fixture
def team(owner: User, editor: User, teammate: User) -> Team:
    """The team of most stories."""
    team = team_create(slug="care", name="Customer Care")
    for person, role in ((owner, Role.ADMIN), (editor, Role.EDITOR), (teammate, Role.VIEWER)):
        membership_set(team=team, user=person, role=role)
    return team


@pytest.fixture
def agent(team: Team) -> Agent:
    """The agent of most stories, which works in the team."""
    return agent_create(slug="ada", name="Ada", teams=[team], instructions="Be kind.")


@pytest.fixture
def agent_api(agent: Agent) -> Api:
    """The agent's own key."""
    return Api(api_key_create(agent=agent, name="Ada's key")[1])


@pytest.fixture
def other_agent_api() -> Api:
    """The key of an agent in another team."""
    far = team_create(slug="far", name="Far away")
    return Api(api_key_create(agent=agent_create(slug="eve", name="Eve", teams=[far]))[1])


@pytest.fixture
def admin_api() -> Api:
    """An admin's key."""
    return Api(api_key_create(agent=None, name="Ops")[1])


@pytest.fixture
def anonymous_api() -> Api:
    return Api()


@pytest.fixture
def as_person() -> Callable[[User], Api]:
    """The API as a person would see it, were there keys of persons."""
    return lambda person: Api(person=person.principal)
