"""The cast as signed-in browsers see it: an owner, an editor, a teammate who may read, an outsider, an admin."""

import re
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


_VERBATIM = re.compile(r"(<(pre|textarea|code)\b.*?</\2>)", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_BLOCK = re.compile(
    r"\s*(</?(?:!doctype|html|head|body|meta|title|link|script|main|nav|aside|header|footer|section|div|p|ul|ol|li|dl|dt|dd"
    r"|h[1-6]|table|caption|thead|tbody|tr|th|td|form|fieldset|legend|label|details|summary|blockquote|svg|g|rect|path"
    r"|line|text|desc|br|button|input|select|option|optgroup|time)\b[^<>]*>)\s*",
    re.IGNORECASE,
)


def text_of(response: Any) -> str:
    """Return a page's HTML as it is laid out: white space counts between words and inline elements alone."""
    content: str = response.content.decode()
    parts = _VERBATIM.split(content)
    # Every third part is the name of an element that the second one holds.
    laid_out = (
        _laid_out(part) if number % 3 == 0 else _TAG.sub(_on_one_line, part) for number, part in enumerate(parts)
    )
    return "".join(part for number, part in enumerate(laid_out) if number % 3 != 2)


def _laid_out(html: str) -> str:
    return _BLOCK.sub(r"\1", re.sub(r"\s+", " ", _TAG.sub(_on_one_line, html)))


def _on_one_line(tag: re.Match[str]) -> str:
    return re.sub(r"\s+(/?>)$", r"\1", re.sub(r"\s+", " ", tag[0]))
