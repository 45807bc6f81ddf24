"""The world of tests/rights, in which three teams also have one restricted thing of every kind."""

from collections.abc import Mapping

import pytest

from tests.pages.conftest import _uncollected_static_files, signed_in  # noqa: F401 - fixtures
from tests.rights.world import World
from tests.rights.world import world as build
from tests.sensitivity.restricted_things import Restricted, restricted_things


@pytest.fixture(scope="module")
def world(module_database: str) -> World:
    """The four teams, the people and the keys."""
    return build()


@pytest.fixture(scope="module")
def restricted(world: World) -> Mapping[str, Restricted]:
    """The restricted things by the team's slug."""
    return restricted_things(world)
