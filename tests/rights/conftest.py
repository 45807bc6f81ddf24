"""The world of the walk: built and committed once per module; whatever a visit does is rolled back."""

import pytest

from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.rights.world import World
from tests.rights.world import world as build


@pytest.fixture(scope="module")
def world(module_database: str) -> World:
    """The four teams, the people and the keys."""
    return build()
