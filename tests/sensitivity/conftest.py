"""The world of tests/rights, in which three teams also have one restricted thing of every kind."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.built_once import built_once
from tests.pages.conftest import _uncollected_static_files, signed_in  # noqa: F401 - fixtures
from tests.rights import world as rights
from tests.rights.world import World
from tests.sensitivity.restricted_things import Restricted, restricted_things

WithRestricted = tuple[World, Mapping[str, Restricted]]


def _build() -> WithRestricted:
    world = rights.world_without_browsers()
    return world, restricted_things(world)


@pytest.fixture(scope="module")
def world_with_restricted(django_db_setup: None, django_db_blocker: Any) -> Iterator[WithRestricted]:
    """Both of what follows, built once per run."""
    with django_db_blocker.unblock(), built_once("sensitivity", _build) as built:
        yield built


@pytest.fixture(scope="module")
def world(world_with_restricted: WithRestricted) -> World:
    """The four teams, the people and the keys."""
    return rights.signed_in(world_with_restricted[0])


@pytest.fixture(scope="module")
def restricted(world_with_restricted: WithRestricted) -> Mapping[str, Restricted]:
    """The restricted things by the team's slug."""
    return world_with_restricted[1]
