"""The cast as signed-in browsers see it: an owner, an editor, a teammate who may read, an outsider, an admin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from teams.models import User
from tests.pages import personas

SignedIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Whatever a page's test does is rolled back."""


@pytest.fixture(autouse=True)
def _uncollected_static_files(settings: Any, tmp_path: Path) -> None:
    """Pages name their static files as they are in the source: nothing has to be collected first."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = tmp_path


owner = pytest.fixture(personas.owner)
team = pytest.fixture(personas.team)
agent = pytest.fixture(personas.agent)
editor = pytest.fixture(personas.editor)
teammate = pytest.fixture(personas.teammate)
outsider = pytest.fixture(personas.outsider)
admin = pytest.fixture(personas.admin)


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
