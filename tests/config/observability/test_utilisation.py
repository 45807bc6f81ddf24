"""`memory_utilisation_ratio` tells what each cache really holds, in every tier, of what it may hold."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from django.test import Client

from config.caching.postgresql_store import PostgreSQLStore
from config.caching.process_cache import ProcessCache
from config.caching.redis_store import PREFIX, RedisStore
from config.caching.shared_cache import CacheStore, SharedCache
from config.caching.sqlite_store import SQLiteStore
from config.db.statements import fetch_rows
from tests.config.observability.test_metrics import sample
from tests.scaling.debian_servers import redis

LIMIT = 2_000_000
Held = Callable[[], int]
"""The bytes that a store holds, as it tells itself."""


@pytest.fixture(params=["postgresql", "redis"])
def shared(
    request: pytest.FixtureRequest, committed_database: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[CacheStore, Held]]:
    if request.param == "postgresql":
        sum_sql = "SELECT coalesce(sum(length(value)), 0) FROM shared_cache"
        yield PostgreSQLStore(LIMIT), lambda: int(fetch_rows(sum_sql)[0][0])
        return
    monkeypatch.setattr("config.caching.redis_store.TIMEOUT_SECONDS", 10)  # a busy machine is no fault
    with redis() as address:
        store = RedisStore(address, LIMIT)
        keys: list[bytes] = [PREFIX + bytes([number]) * 32 for number in range(40)]
        yield store, lambda: sum(store._server.strlen(key) for key in keys)


def test_of_shared_caches_it_tells_the_bytes_of_the_store(
    shared: tuple[CacheStore, Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, held = shared
    cache, chance = SharedCache("shared", "answers", store), Random(1)
    monkeypatch.setattr("config.observability.metrics.shared_answers", lambda: cache)
    labels = {"tier": "shared", "cache": "answers"}

    def told() -> float:
        text = Client().get("/metrics").content.decode()
        assert sample(text, "memory_cache_bytes", **labels) == held()
        assert sample(text, "memory_cache_limit_bytes", **labels) == LIMIT
        assert sample(text, "memory_tier_utilisation_ratio", tier="shared") == pytest.approx(held() / LIMIT)
        return sample(text, "memory_utilisation_ratio", **labels)

    assert told() == 0
    for number in range(20):
        assert cache.put(bytes([number]) * 32, chance.randbytes(40_000), 300) > 40_000
    assert told() == pytest.approx(held() / LIMIT)
    assert 0.4 < told() < 0.45
    for number in range(40):
        cache.put(bytes([number]) * 32, chance.randbytes(60_000), 300)
    assert 0.5 < told() <= 1, "it is never more than full"
    cache.clear()
    assert told() == 0


@pytest.mark.django_db
def test_of_the_disk_it_tells_the_bytes_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SQLiteStore(tmp_path / "cache.sqlite3", LIMIT)
    cache, chance = SharedCache("disk", "topic_vectors", store), Random(1)
    monkeypatch.setattr("config.observability.metrics.topic_vectors", lambda: cache)
    for number in range(12):
        cache.put(bytes([number]) * 32, chance.randbytes(60_000), 300)
    text = Client().get("/metrics").content.decode()
    store.close()  # which moves what was written last into the file
    size = store.path.stat().st_size
    labels = {"tier": "disk", "cache": "topic_vectors"}
    assert 720_000 < size < LIMIT
    assert sample(text, "memory_cache_bytes", **labels) == pytest.approx(size, rel=0.02)
    assert sample(text, "memory_utilisation_ratio", **labels) == pytest.approx(size / LIMIT, rel=0.02)
    assert sample(text, "memory_tier_utilisation_ratio", tier="disk") == pytest.approx(size / LIMIT, rel=0.02)


@pytest.mark.django_db
def test_of_processes_it_tells_the_bytes_of_each_cache_and_of_all_together() -> None:
    cache = ProcessCache[int, bytes]("trial", 1_000, len)
    cache.put_many({number: bytes(100) for number in range(7)})
    text = Client().get("/metrics").content.decode()
    assert sample(text, "memory_utilisation_ratio", tier="process", cache="trial") == 0.7
    together = sample(text, "memory_tier_utilisation_ratio", tier="process")
    assert 0 < together < 0.7, "the others have more room"
    cache.put_many({number: bytes(100) for number in range(7, 30)})
    text = Client().get("/metrics").content.decode()
    assert sample(text, "memory_utilisation_ratio", tier="process", cache="trial") == 1
    assert sample(text, "memory_tier_utilisation_ratio", tier="process") > together
    cache.clear()
