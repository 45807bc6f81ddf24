"""The database of each worker, and the cast as fixtures."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import HealthCheck, settings

from assembly.pipeline.read_cache import row_cache
from assembly.records.insert_sql import stored_pieces
from assembly.sources.search_reuse import forget_searches
from config.observability.request_log import REQUESTS, SECONDS
from config.server.memory_settings import configure_garbage_collector
from teams.models import User
from tests import personas
from tests.client import Api
from tests.postgres import cloned_database, connected_to

# On a machine that is busy, examples take longer, which is no fault of a test.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is loaded and collected by now stays to the end: the garbage collector leaves it alone."""
    configure_garbage_collector()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Hide the loop of a browser, which goes on in this worker's thread, from a test without one and its fixtures.

    Django has connections of their own for a thread in which a loop runs: fixtures would roll back in one connection
    what a test has written in the other.
    """
    events: Any = asyncio.events
    loop = None if item.get_closest_marker("browser") else events._get_running_loop()
    if loop is None:
        return (yield)
    events._set_running_loop(None)
    try:
        return (yield)
    finally:
        events._set_running_loop(loop)


@pytest.fixture(scope="session")
def django_db_setup() -> Iterator[None]:
    """pytest-django's hook: instead of making test databases, this worker's clone of the template.

    It is not unblocked here: a test without the fixture `db` would commit its rows, for all tests that follow to find.
    """
    with cloned_database() as name, connected_to(name):
        yield


@pytest.fixture
def committed_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """A database of this test's own in which commits happen: for threads, servers, subprocesses and faults."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield name


@pytest.fixture(scope="module")
def module_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """A database of this module's own: what its fixtures commit, all its tests find; what tests do is rolled back."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield name


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """To hash a password as it is done for real takes half a second of a processor, and is meant to."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def nothing_known_as_stored() -> None:
    """What the test before had stored was rolled back, and what it had read was another database's."""
    stored_pieces.forget()
    row_cache.forget()
    forget_searches()


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    """Whoever reads the metrics of a process that was asked for every address gets more than ten thousand lines."""
    REQUESTS.clear()
    SECONDS.clear()


admin = pytest.fixture(personas.admin)
owner = pytest.fixture(personas.owner)
editor = pytest.fixture(personas.editor)
teammate = pytest.fixture(personas.teammate)
outsider = pytest.fixture(personas.outsider)
mixed = pytest.fixture(personas.mixed)
team = pytest.fixture(personas.team)
agent = pytest.fixture(personas.agent)
agent_api = pytest.fixture(personas.agent_api)
other_agent_api = pytest.fixture(personas.other_agent_api)
admin_api = pytest.fixture(personas.admin_api)


@pytest.fixture
def anonymous_api() -> Api:
    return Api()


@pytest.fixture
def as_person() -> Callable[[User], Api]:
    """The API as a person would see it, were there keys of persons."""
    return lambda person: Api(person=person.principal)
