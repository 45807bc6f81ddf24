"""The key store: data keys by id, wrapped by the master key, in a PostgreSQL database apart from the data.

The id of a stored text's key is the SHA-256 of the text, and that of a record's body the id of the assembly. An id has
a key for each generation: whoever stores a value again after its key was destroyed gets a key of the next generation.

Keys are cached for half a minute at most. Each call that makes keys also reads how often keys were destroyed, so that a
process which makes keys notices at once; see `on_destruction`.
"""

import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import cache
from typing import NamedTuple, TypeVar

from django.conf import settings
from msgspec import Struct

from config.caching.process_cache import ProcessCache
from config.keys.envelope import KEY_BYTES, DataKey, DecryptionFailed, MasterKey
from config.keys.key_errors import KeyLost, KeyStoreUnavailable, MasterKeyMissing
from config.keys.store_connections import MAX_CONNECTIONS, Asked, Rows, run_in_store

Outcome = TypeVar("Outcome")

CACHE_SECONDS = 30.0
MAX_GENERATION = 2**31 - 1
"""The greatest number in a column of the store."""
MAX_CACHE_BYTES = 4_000_000
ENTRY_BYTES = 400
"""Approximate bytes of memory of a cached key, with its id."""
ATTEMPTS = 5
"""Attempts to make a key while others make and destroy the same one."""

# Lists are sent in binary (%b): psycopg takes a third of the time for them, and PostgreSQL need not parse them.
OBTAIN_SQL = """
WITH asked AS (
    SELECT * FROM unnest(%(ids)b::bytea[], %(wrapped)b::bytea[]) AS asked (id, wrapped)
), newest AS (
    SELECT DISTINCT ON (id) id, generation, CASE WHEN retired_at IS NULL THEN data_keys.wrapped END AS wrapped
    FROM data_keys WHERE id = ANY(%(ids)b::bytea[]) ORDER BY id, generation DESC
), made AS (
    INSERT INTO data_keys (id, generation, wrapped)
    SELECT asked.id, coalesce(newest.generation, 0) + 1, asked.wrapped FROM asked LEFT JOIN newest USING (id)
    WHERE newest.wrapped IS NULL ORDER BY asked.id
    ON CONFLICT DO NOTHING RETURNING id, generation, wrapped
), found AS (
    SELECT id, generation, wrapped FROM newest WHERE wrapped IS NOT NULL
    UNION ALL SELECT id, generation, wrapped FROM made
)
SELECT number, id, generation, wrapped FROM key_destructions LEFT JOIN found ON true
"""
FETCH_SQL = """
SELECT id, generation, wrapped, destroyed_at FROM data_keys
JOIN unnest(%(ids)b::bytea[], %(generations)s::integer[]) AS asked (id, generation) USING (id, generation)
"""
DESTROY_SQL = """
WITH gone AS (
    UPDATE data_keys SET wrapped = NULL, destroyed_at = now()
    WHERE id = ANY(%(ids)s::bytea[]) AND destroyed_at IS NULL RETURNING id
), words AS (
    DELETE FROM text_words WHERE id = ANY(%(ids)s::bytea[])
)
UPDATE key_destructions SET number = number + 1 RETURNING (SELECT count(*) FROM gone)
"""
RETIRE_SQL = """
UPDATE data_keys SET retired_at = now() WHERE id = ANY(%(ids)s::bytea[]) AND retired_at IS NULL AND wrapped IS NOT NULL
RETURNING generation
"""
DESTROY_RETIRED_SQL = """
WITH asked AS (
    SELECT * FROM unnest(%(ids)s::bytea[], %(generations)s::integer[]) AS asked (id, used)
), gone AS (
    UPDATE data_keys SET wrapped = NULL, destroyed_at = now() FROM asked
    WHERE data_keys.id = asked.id AND generation IS DISTINCT FROM used AND retired_at IS NOT NULL
        AND data_keys.wrapped IS NOT NULL
    RETURNING data_keys.id
), again AS (
    UPDATE data_keys SET retired_at = NULL FROM asked WHERE data_keys.id = asked.id AND generation = used
), words AS (
    DELETE FROM text_words USING asked WHERE text_words.id = asked.id AND used IS NULL
)
SELECT count(*) FROM gone
"""
DESTROYED_SQL = """
SELECT id, max(destroyed_at) FROM data_keys WHERE id = ANY(%(ids)s::bytea[])
GROUP BY id HAVING bool_and(destroyed_at IS NOT NULL)
"""


class KeyName(NamedTuple):
    """A key's id and its generation, which a sealed value tells."""

    id: bytes
    generation: int


class DestroyedKey(Struct, frozen=True):
    """What is left of a destroyed key."""

    destroyed_at: datetime


def is_configured() -> bool:
    """Return whether there is a key store, so that what is encrypted can be read."""
    return settings.KEY_STORE is not None


def obtain(ids: Collection[bytes], also: Sequence[Asked] = ()) -> dict[bytes, DataKey]:
    """Return a key for each id, under which a value may be stored; those that do not exist are made.

    One round trip, unless others make the same keys at the same time; they are stored durably when this returns. The
    statements `also` are executed in the same transaction. Raises KeyStoreUnavailable, MasterKeyMissing.
    """
    found: dict[bytes, DataKey] = {}
    missing = sorted(set(ids))
    for _ in range(ATTEMPTS):
        master = master_key()
        wrapped = [master.wrap(id_, secrets.token_bytes(KEY_BYTES)) for id_ in missing]
        rows, *_ = run_in_store((OBTAIN_SQL, {"ids": missing, "wrapped": wrapped}), *also)
        found, also = found | _obtained(rows), ()
        missing = [id_ for id_ in missing if id_ not in found]
        if not missing:
            return found
    raise KeyStoreUnavailable


def begin(work: Callable[[], Outcome]) -> Callable[[], Outcome]:
    """Begin work with the store in a thread, while the caller makes what is to be encrypted, and return a function that
    waits for its result.
    """
    return _threads.submit(work).result


def _obtained(rows: Rows) -> dict[bytes, DataKey]:
    _notice_destructions(rows[0][0])
    there = {KeyName(bytes(id_), generation): bytes(key) for _number, id_, generation, key in rows if id_ is not None}
    found = {name: _unwrapped(name, wrapped) for name, wrapped in there.items()}
    _cache.put_many(found)
    return {name.id: key for name, key in found.items()}


def fetch(names: Collection[KeyName]) -> dict[KeyName, DataKey | DestroyedKey]:
    """Return the keys by name, or what is left of them; one statement for those that are not cached.

    Raises KeyStoreUnavailable, MasterKeyMissing, and KeyLost for a name that the store never had.
    """
    found: dict[KeyName, DataKey | DestroyedKey] = dict(_cache.get_many(names))
    if missing := sorted(set(names) - found.keys()):
        if odd := [name for name in missing if name.generation > MAX_GENERATION]:  # of a value that was changed
            raise KeyLost(f"The key store has no key {odd[0].id.hex()}.")
        asked = {"ids": [name.id for name in missing], "generations": [name.generation for name in missing]}
        (rows,) = run_in_store((FETCH_SQL, asked))
        for id_, generation, wrapped, destroyed_at in rows:
            name = KeyName(bytes(id_), generation)
            found[name] = _unwrapped(name, bytes(wrapped)) if wrapped else DestroyedKey(destroyed_at)
        _cache.put_many({name: key for name in missing if isinstance(key := found.get(name), DataKey)})
        if lost := [name for name in missing if name not in found]:
            raise KeyLost(f"The key store has no key {lost[0].id.hex()}.")
    return found


def destroy(ids: Collection[bytes]) -> int:
    """Destroy all keys of these ids, with what is kept of the words of their texts. Returns how many keys there were.

    What was stored under them cannot be read again: by this process from now on, by others after half a minute at the
    latest. Ids without a key are passed over. Raises KeyStoreUnavailable.
    """
    if not ids:
        return 0
    (((destroyed,),),) = run_in_store((DESTROY_SQL, {"ids": sorted(set(ids))}))
    forget_keys()
    return int(destroyed)


def retire(ids: Collection[bytes]) -> None:
    """See to it that whoever obtains a key for one of these ids gets another one; what is stored can still be read.

    Raises KeyStoreUnavailable.
    """
    run_in_store((RETIRE_SQL, {"ids": sorted(set(ids))}))


def destroy_retired(used: Mapping[bytes, int | None]) -> int:
    """Destroy the retired keys of these ids, except those of the generation under which a value is stored again.

    Returns how many there were. Raises KeyStoreUnavailable.
    """
    asked = {"ids": [*used], "generations": [*used.values()]}
    (((destroyed,),),) = run_in_store((DESTROY_RETIRED_SQL, asked))
    return int(destroyed)


def is_destroyed(ids: Collection[bytes]) -> dict[bytes, datetime]:
    """Return, for those of the ids whose keys are all destroyed, when the last one was. Raises KeyStoreUnavailable."""
    (rows,) = run_in_store((DESTROYED_SQL, {"ids": sorted(set(ids))})) if ids else ([],)
    return {bytes(id_): destroyed_at for id_, destroyed_at in rows}


def on_destruction(forget: Callable[[], None]) -> Callable[[], None]:
    """Register a function that is called when this process notices that keys were destroyed, by whomever.

    It forgets which texts are stored, because a text whose key was destroyed has to be stored again.
    """
    _forgetters.append(forget)
    return forget


def master_key() -> MasterKey:
    """Return the master key of the settings."""
    return _master_key(settings.MASTER_KEY, tuple(settings.MASTER_KEY_FALLBACKS))


@cache
def _master_key(present: bytes, former: tuple[bytes, ...]) -> MasterKey:
    return MasterKey(present, former)


def _unwrapped(name: KeyName, wrapped: bytes) -> DataKey:
    try:
        return DataKey(name.generation, master_key().unwrap(name.id, wrapped))
    except DecryptionFailed:
        raise MasterKeyMissing from None


class _Destructions:
    """How often keys had been destroyed when this process made keys last; None before it has made any."""

    number: int | None = None


def _notice_destructions(number: int) -> None:
    if _Destructions.number not in {None, number}:
        forget_keys()
    _Destructions.number = number


def forget_keys() -> None:
    """Forget the keys that this process has cached, and which texts are stored."""
    _cache.clear()
    for forget in _forgetters:
        forget()


class _Threads:
    """A few threads that wait for the key store while those of requests compute."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Forget the threads, which a forked child does not have."""
        self._executor = ThreadPoolExecutor(MAX_CONNECTIONS, thread_name_prefix="keys")

    def submit(self, work: Callable[[], Outcome]) -> Future[Outcome]:
        return self._executor.submit(work)


_threads = _Threads()
os.register_at_fork(after_in_child=_threads.forget)
_forgetters: list[Callable[[], None]] = []
_cache = ProcessCache[KeyName, DataKey](
    "data_keys", MAX_CACHE_BYTES, lambda _: ENTRY_BYTES, lifetime=lambda _: CACHE_SECONDS
)
