"""The cast as signed-in browsers see it: an owner, an editor, a teammate who may read, an outsider, an admin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from agents.services import agent_create
from teams.models import Role, Team, User
from teams.services import membership_set, team_create

SignedIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any, tmp_path: Path) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("olga", name="Olga Owner")


@pytest.fixture
def team(owner: User) -> Team:
    return team_create(slug="demo", name="Demo", principal=owner.principal)


@pytest.fixture
def agent(team: Team) -> Agent:
    return agent_create(slug="luna", name="Luna", teams=[team], instructions="Be kind.")


@pytest.fixture
def editor(team: Team) -> User:
    return _member(team, "edda", Role.EDITOR)


@pytest.fixture
def teammate(team: Team) -> User:
    return _member(team, "tim", Role.VIEWER)


@pytest.fixture
def outsider(db: None) -> User:
    return User.objects.create_user("otto", name="Otto Outsider")


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("ada", name="Ada Admin")


def _member(team: Team, username: str, role: Role) -> User:
    user = User.objects.create_user(username, name=username.title())
    membership_set(team=team, user=user, role=role)
    return user


@pytest.fixture
def signed_in() -> SignedIn:
    """A browser in which somebody is signed in."""

    def browser(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return browser


def text_of(response: Any) -> str:
    """A page's HTML."""
    content: str = response.content.decode()
    return content
