"""A shared cache on which nothing depends: a store that fails gives misses, and is left alone for a while."""

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from config.caching.redis_store import RedisStore
from config.caching.shared_cache import SharedCache, StoredValue, StoreFailed

KEY = b"k" * 32


@dataclass
class Store:
    """A store that can be switched off."""

    name: str = "a store"
    max_bytes: int = 16_000
    is_up: bool = True
    attempts: int = 0
    values: dict[bytes, bytes] = field(default_factory=dict)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, StoredValue]:
        self._attempt()
        return {key: StoredValue(self.values[key], 30) for key in keys if key in self.values}

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        self._attempt()
        self.values[key] = value
        return 0

    def used_bytes(self) -> int:
        self._attempt()
        return sum(map(len, self.values.values()))

    def clear(self) -> None:
        self._attempt()
        self.values.clear()

    def _attempt(self) -> None:
        self.attempts += 1
        if not self.is_up:
            raise StoreFailed("it is down")


@pytest.fixture
def now() -> list[float]:
    return [1_000.0]


def test_a_store_that_fails_is_left_alone_for_longer_and_longer(now: list[float]) -> None:
    store = Store()
    cache = SharedCache("shared", "trial", store, lambda: now[0])
    cache.put(KEY, b"value", 30)
    store.is_up = False
    tried_at = []
    for _ in range(3_000):
        before = store.attempts
        assert cache.get(KEY) is None
        cache.put(KEY, b"other", 30)
        assert cache.used_and_limit() is None
        if store.attempts > before:
            assert store.attempts == before + 1
            tried_at.append(now[0] - 1_000)
        now[0] += 0.1
    assert [round(moment) for moment in tried_at] == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]
    store.is_up = True
    now[0] += 60
    found = cache.get(KEY)
    assert found
    assert found.value == b"value"
    assert cache.get(KEY)
    store.is_up = False
    assert cache.get(KEY) is None
    now[0] += 1.1
    before = store.attempts
    cache.get(KEY)
    assert store.attempts == before + 1, "it begins with the shortest pause again"


def test_one_alone_tries_a_store_that_failed(now: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(is_up=False)
    cache = SharedCache("shared", "trial", store, lambda: now[0])
    assert cache.get(KEY) is None
    now[0] += 1.1
    inner: list[StoredValue | None] = []

    def nested(_: Sequence[bytes]) -> dict[bytes, StoredValue]:
        store.attempts += 1
        inner.append(cache.get(KEY))
        return {}

    monkeypatch.setattr(store, "get_many", nested)
    before = store.attempts
    assert cache.get(KEY) is None
    assert inner == [None]
    assert store.attempts == before + 1


def test_it_warns_once_and_names_no_address(now: list[float], caplog: pytest.LogCaptureFixture) -> None:
    cache = SharedCache("shared", "trial", Store(is_up=False), lambda: now[0])
    for _ in range(5):
        cache.get(KEY)
        now[0] += 100
    assert caplog.messages == ["a store is not used as a cache for a while: it is down"]


def test_without_a_store_there_is_nothing() -> None:
    cache = SharedCache("shared", "trial", None)
    cache.put(KEY, b"value", 30)
    assert cache.get(KEY) is None
    assert cache.used_and_limit() is None


def test_no_value_takes_more_than_a_share() -> None:
    store = Store()
    cache = SharedCache("shared", "trial", store)
    cache.put(KEY, bytes(range(256)) * 3, 30)
    assert KEY in store.values
    cache.put(b"large", b"".join(number.to_bytes(2) for number in range(2_000)), 30)
    assert b"large" not in store.values


@pytest.fixture
def silent_port() -> Iterator[tuple[int, socket.socket]]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        yield server.getsockname()[1], server


def test_a_redis_that_never_answers_is_asked_once(silent_port: tuple[int, socket.socket], now: list[float]) -> None:
    port, server = silent_port
    cache = SharedCache("shared", "trial", RedisStore(f"redis://127.0.0.1:{port}/0", 1_000_000), lambda: now[0])
    for _ in range(20):
        assert cache.get(KEY) is None
        cache.put(KEY, b"value", 30)
    server.accept()[0].close()
    server.setblocking(False)
    with pytest.raises(BlockingIOError):
        server.accept()
