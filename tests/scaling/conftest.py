"""A standby of the tests' server, which Django knows as a read replica."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from config.db import replicas
from teams.models import User
from tests.scaling.standby_server import Standby, standby_server

ALIAS = "replica1"


@pytest.fixture(scope="module")
def standby(django_db_setup: None) -> Iterator[Standby]:
    """A standby for the tests of one module."""
    with standby_server() as server:
        yield server


@pytest.fixture
def replica(committed_database: str, standby: Standby) -> Iterator[Standby]:
    """The standby as a read replica of a test's own database. It replays without delay, and has replayed everything."""
    with read_replica(standby):
        yield standby


class read_replica:  # noqa: N801 - used as a context manager
    """Name the standby in Django's settings for the block, with the database and the role of the application."""

    def __init__(self, standby: Standby) -> None:
        self._standby = standby

    def __enter__(self) -> None:
        if self._standby.process is None:
            self._standby.start()
        self._standby.resume()
        self._standby.catch_up()
        databases: Any = connections.settings
        facts = self._standby.facts(databases["default"])
        pool = {"min_size": 0, "max_size": 10, "timeout": 1, "reconnect_timeout": 2}
        databases[ALIAS] = facts | {"OPTIONS": {"prepare_threshold": 5, "pool": pool, "connect_timeout": 2}}

    def __exit__(self, *_: object) -> None:
        wrapper: Any = connections[ALIAS]
        with suppress(Exception):
            wrapper.close()
        wrapper.close_pool()
        del connections[ALIAS]
        connections.settings.pop(ALIAS)
        replicas._conditions.clear()
        if self._standby.process is not None:
            self._standby.resume()


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    """A browser in which somebody is signed in."""

    def browser(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return browser
