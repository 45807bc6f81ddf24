"""The world of the walk: built once per run, cloned for each module; whatever a visit does is rolled back."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.built_once import built_once
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.rights.world import World, signed_in, world_without_browsers


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """The four teams, the people and the keys."""
    with django_db_blocker.unblock(), built_once("rights", world_without_browsers) as world:
        yield signed_in(world)
