"""Values are stored after the request: in order, and never at the cost of anybody."""

from threading import Event
from typing import Any, cast

import pytest
from django.db import connection

from config.caching.background_writes import BackgroundWrites
from config.caching.postgresql_store import PostgreSQLStore
from config.caching.shared_cache import SharedCache
from tests.faults.processes import until

KEY = b"k" * 32


@pytest.fixture
def writes() -> BackgroundWrites:
    return BackgroundWrites(most_waiting=4)


def test_they_happen_in_order(writes: BackgroundWrites) -> None:
    done: list[int] = []
    for number in range(20):
        writes.submit(lambda number=number: done.append(number))  # type: ignore[misc]
        writes.flush()
    assert done == [*range(20)]


def test_what_has_no_room_is_dropped(writes: BackgroundWrites) -> None:
    done: list[int] = []
    begun, may_end = Event(), Event()

    def wait() -> None:
        begun.set()
        may_end.wait(30)

    writes.submit(wait)
    assert begun.wait(30)
    for number in range(10):
        writes.submit(lambda number=number: done.append(number))  # type: ignore[misc]
    may_end.set()
    writes.flush()
    assert done == [0, 1, 2, 3]


def test_one_that_fails_leaves_the_others(writes: BackgroundWrites, caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    writes.submit(lambda: done.append(1 // 0))
    writes.submit(lambda: done.append(1))
    writes.flush()
    assert done == [1]
    assert caplog.messages == ["a value was not cached"]


def test_the_thread_leaves_no_connection_behind(committed_database: str, writes: BackgroundWrites) -> None:
    cache = SharedCache("shared", "trial", PostgreSQLStore(1_000_000), background=writes)
    cache.put_later(KEY, lambda: b"value", 30)
    writes.flush()
    assert cache.get(KEY).value == b"value"  # type: ignore[union-attr]
    pool = cast("Any", connection).pool

    def taken() -> int:
        stats = pool.get_stats()
        return int(stats["pool_size"] - stats["pool_available"])

    until(lambda: taken() == 1)  # that of this thread


def test_a_value_expires_as_if_it_had_been_stored_at_once(committed_database: str) -> None:
    now = [100.0]
    cache = SharedCache("shared", "trial", PostgreSQLStore(1_000_000), lambda: now[0])

    def encoded_after(seconds: float) -> bytes:
        now[0] += seconds
        return b"value"

    cache.put_later(KEY, lambda: encoded_after(20), 30)
    found = cache.get(KEY)
    assert found
    assert 5 < found.seconds <= 10
    cache.put_later(b"late", lambda: encoded_after(31), 30)
    assert cache.get(b"late") is None
    cache.put_later(b"none", lambda: None, 30)
    assert cache.get(b"none") is None
