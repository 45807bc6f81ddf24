"""The cast as signed-in browsers see it: an owner, an editor, a teammate who may read, an outsider, an admin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from teams.models import User
from tests.pages import cast

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


owner = pytest.fixture(cast.owner)
team = pytest.fixture(cast.team)
agent = pytest.fixture(cast.agent)
editor = pytest.fixture(cast.editor)
teammate = pytest.fixture(cast.teammate)
outsider = pytest.fixture(cast.outsider)
admin = pytest.fixture(cast.admin)


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
