"""Where shared values are kept: PostgreSQL, Redis, a file. Each is the real one."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import connection, connections, transaction
from redis import Redis

from config.caching.postgresql_store import PostgreSQLStore
from config.caching.redis_store import PREFIX, RedisStore
from config.caching.shared_cache import CacheStore, SharedCache, StoredValue, StoreFailed
from config.caching.sqlite_store import SQLiteStore
from config.db.statements import execute_sql
from tests.concurrency import at_once
from tests.scaling.debian_servers import free_port, redis

LIMIT = 400_000
KEY, OTHER = b"k" * 32, b"o" * 32

NewStore = Callable[[], CacheStore]
"""The store as another process sees it."""


@pytest.fixture(scope="module")
def redis_address() -> Iterator[str]:
    with redis() as address:
        yield address


@pytest.fixture(params=["postgresql", "redis", "sqlite"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewStore]:
    if request.param == "postgresql":
        request.getfixturevalue("committed_database")
        yield lambda: PostgreSQLStore(LIMIT)
    elif request.param == "redis":
        address = request.getfixturevalue("redis_address")
        monkeypatch.setattr("config.caching.redis_store.TIMEOUT_SECONDS", 10)  # a busy machine is no fault
        Redis.from_url(address).flushall()
        yield lambda: RedisStore(address, LIMIT)
    else:
        opened: list[SQLiteStore] = []

        def opened_store() -> SQLiteStore:
            opened.append(SQLiteStore(tmp_path / "below" / "cache.sqlite3", LIMIT))
            return opened[-1]

        yield opened_store
        for store in opened:
            store.close()


def stored_value(store: CacheStore, key: bytes) -> StoredValue | None:
    return store.get_many([key]).get(key)


def test_what_one_process_stores_another_finds(new_store: NewStore) -> None:
    one, another = new_store(), new_store()
    assert stored_value(another, KEY) is None
    one.put(KEY, b"first", 30)
    one.put(OTHER, bytes(range(256)), 20)
    found = stored_value(another, KEY)
    assert found
    assert found.value == b"first"
    assert 25 < found.seconds <= 30
    assert stored_value(another, OTHER).value == bytes(range(256))  # type: ignore[union-attr]
    another.put(KEY, b"second", 30)
    assert stored_value(one, KEY).value == b"second"  # type: ignore[union-attr]
    assert stored_value(one, b"") is None
    both = one.get_many([OTHER, b"none", KEY])
    assert {key: found.value for key, found in both.items()} == {KEY: b"second", OTHER: bytes(range(256))}


def test_what_has_expired_is_not_found(new_store: NewStore) -> None:
    store = new_store()
    store.put(KEY, b"value", 0.05)
    time.sleep(0.1)
    assert stored_value(store, KEY) is None


def test_however_much_is_stored_the_bound_holds(new_store: NewStore) -> None:
    stores, chance, evictions = [new_store(), new_store()], Random(7), 0
    for number in range(400):
        evictions += stores[number % 2].put(number.to_bytes(32), chance.randbytes(chance.randrange(1, 8_000)), 30)
        assert stores[0].used_bytes() <= LIMIT
    kept = [number for number in range(400) if stored_value(stores[0], number.to_bytes(32))]
    assert kept[-1] == 399, "the newest"
    assert evictions >= 400 - len(kept) > 200
    assert len(kept) >= 40, "it is not emptied for one of them"
    for _ in range(100):  # the same one again and again takes its room once
        stores[0].put(KEY, bytes(8_000), 30)
    assert stored_value(stores[0], (399).to_bytes(32))


def test_what_expired_makes_room(new_store: NewStore) -> None:
    store = new_store()
    for number in range(20):
        store.put(number.to_bytes(32), bytes(4_000), 0.05)
    time.sleep(0.1)
    for number in range(20):
        assert store.put((100 + number).to_bytes(32), bytes(4_000), 30) == 0


def test_many_may_use_it_at_once(new_store: NewStore) -> None:
    stores = [new_store() for _ in range(4)]
    for store in stores:
        stored_value(
            store, KEY
        )  # opened one after the other: of two that open a new SQLite file, one may find it locked

    def use(store: CacheStore) -> None:
        chance = Random(id(store))
        for _ in range(40):
            key = chance.randrange(20).to_bytes(32)
            store.put(key, key * chance.randrange(1, 300), 30)
            found = stored_value(store, key)
            assert found is None or found.value.startswith(key)

    at_once([lambda store=store: use(store) for store in stores])  # type: ignore[misc]
    assert stores[0].used_bytes() <= LIMIT


def test_what_others_wrote_there_is_a_miss(new_store: NewStore) -> None:
    cache, store = SharedCache("shared", "trial", new_store()), new_store()
    cache.put(KEY, b"value", 30)
    sealed = stored_value(store, KEY)
    assert cache.get(KEY).value == b"value"  # type: ignore[union-attr]
    assert sealed
    assert b"value" not in sealed.value
    spoilt = bytes([*sealed.value[:-1], sealed.value[-1] ^ 1])
    for garbage in (b"", b"x", b"\x01", sealed.value[:20], spoilt, b"\x80\x04\x95pickle", bytes(5_000)):
        store.put(KEY, garbage, 30)
        assert cache.get(KEY) is None
    store.put(OTHER, sealed.value, 30)
    assert cache.get(OTHER) is None, "it was sealed for another key"


def test_another_installation_finds_nothing(new_store: NewStore, settings: Any) -> None:
    cache = SharedCache("shared", "trial", new_store())
    cache.put(KEY, b"value", 30)
    settings.SECRET_KEY = "of-the-other-one"
    assert cache.get(KEY) is None


# --- PostgreSQL -------------------------------------------------------------------------------------------------


def test_within_a_transaction_postgresql_is_left_alone(committed_database: str) -> None:
    store = PostgreSQLStore(LIMIT)
    store.put(KEY, b"before", 30)
    with transaction.atomic():
        assert store.put(KEY, b"within", 30) == 0
        assert stored_value(store, KEY) is None
        execute_sql("SELECT 1")
    assert stored_value(store, KEY).value == b"before"  # type: ignore[union-attr]


def test_a_locked_row_of_postgresql_is_waited_for_shortly(committed_database: str) -> None:
    store = PostgreSQLStore(LIMIT)
    store.put(KEY, b"value", 30)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE shared_cache SET size = size")
        with pytest.raises(StoreFailed, match="OperationalError"):
            store.put(KEY, b"other", 30)
        assert stored_value(store, KEY).value == b"value"  # type: ignore[union-attr]
    assert not connection.in_atomic_block


def test_the_table_costs_no_log_and_no_compression(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE oid = 'shared_cache'::regclass")
        assert cursor.fetchone() == ("u",)
        cursor.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = 'shared_cache'::regclass AND attname = 'value'"
        )
        assert cursor.fetchone() == ("e",)


# --- Redis ------------------------------------------------------------------------------------------------------


def test_other_keys_of_a_redis_are_left_alone(redis_address: str) -> None:
    server: Any = Redis.from_url(redis_address)
    server.flushall()
    server.set("celery", b"a job")
    store = RedisStore(redis_address, LIMIT)
    for number in range(100):
        store.put(number.to_bytes(32), bytes(8_000), 30)
    assert server.get("celery") == b"a job"
    assert [key for key in server.keys("*") if not key.startswith(PREFIX)] == [b"celery"]
    assert all(server.pttl(key) > 0 for key in server.keys(PREFIX + b"*")), "nothing stays there for ever"


def test_a_full_redis_is_a_failure_and_no_error() -> None:
    with redis() as address:
        Redis.from_url(address).config_set("maxmemory", "2mb")
        cache = SharedCache("shared", "trial", RedisStore(address, 10**9))
        for number in range(60):
            cache.put(number.to_bytes(32), Random(number).randbytes(100_000), 30)
        assert cache.get((59).to_bytes(32)) is None


def test_a_redis_that_is_not_there_fails() -> None:
    store = RedisStore(f"redis://127.0.0.1:{free_port()}/0", LIMIT)
    for attempt in (lambda: stored_value(store, KEY), lambda: store.put(KEY, b"", 1), store.used_bytes):
        with pytest.raises(StoreFailed):
            attempt()


# --- the file ---------------------------------------------------------------------------------------------------


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"no database at all" * 1_000)
    store = SQLiteStore(path, LIMIT)
    with pytest.raises(StoreFailed, match="DatabaseError"):
        stored_value(store, KEY)
    store.put(KEY, b"value", 30)
    assert stored_value(store, KEY).value == b"value"  # type: ignore[union-attr]
    store.close()


def test_a_file_that_cannot_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = SQLiteStore(tmp_path / "file" / "cache.sqlite3", LIMIT)
    with pytest.raises(StoreFailed):
        store.put(KEY, b"value", 30)


def test_the_file_itself_stays_small(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "cache.sqlite3", LIMIT)
    for number in range(500):
        store.put(number.to_bytes(32), bytes(6_000), 30)
    store.close()
    assert (tmp_path / "cache.sqlite3").stat().st_size <= LIMIT
