"""The database of each worker, and the cast: an owner, a teammate who may read, an outsider, an agent's key, an admin."""

from collections.abc import Iterator
from typing import Any

import pytest

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
