"""The PostgreSQL store keeps shared values in the unlogged table `shared_cache`, which a crash of PostgreSQL empties.

Each process drops expired values, and the oldest ones down to three quarters of the limit, whenever it has written a
64th of the limit, and at least every half minute in which it writes. So the table stays below 80 % of the limit with
three writing processes, and below the limit with sixteen.

Within a transaction nothing is read or written: a failed statement would end the caller's transaction, and a stored
value would lock its row until the commit.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic

from django.db import Error, connection
from psycopg_pool import PoolTimeout

from config.caching.shared_cache import StoredValue, StoreFailed
from config.db.statements import Rows, Statement, run_statement

TIMEOUT_MS = 250
EVICTION_SHARE = 1 / 64
KEPT_SHARE = 3 / 4
EVICTION_SECONDS = 30.0

LIMIT_SQL = "SELECT set_config('statement_timeout', %(milliseconds)s, true)"
GET_SQL = """
SELECT key, value, extract(epoch FROM expires - now())::float8 AS seconds
FROM shared_cache WHERE key = ANY(%(keys)s::bytea[]) AND expires > now()
"""
PUT_SQL = """
INSERT INTO shared_cache (key, value, size, expires)
VALUES (%(key)s, %(value)s, %(size)s, now() + make_interval(secs => %(seconds)s))
ON CONFLICT (key) DO UPDATE SET value = excluded.value, size = excluded.size, expires = excluded.expires
RETURNING size
"""
# A value that another process is replacing is skipped: nobody waits for anybody.
EVICT_SQL = """
WITH newest AS (
    SELECT key, sum(size) OVER (ORDER BY expires DESC, key) AS bytes FROM shared_cache
), dropped AS (
    SELECT shared_cache.key FROM shared_cache JOIN newest USING (key)
    WHERE expires <= now() OR bytes > %(bytes)s
    FOR UPDATE OF shared_cache SKIP LOCKED
), gone AS (
    DELETE FROM shared_cache USING dropped WHERE shared_cache.key = dropped.key RETURNING expires > now() AS early
)
SELECT count(*) FILTER (WHERE early) AS evictions FROM gone
"""
CLEAR_SQL = "DELETE FROM shared_cache RETURNING size"
USED_SQL = "SELECT coalesce(sum(size), 0)::bigint AS bytes FROM shared_cache"


class PostgreSQLStore:
    """Shared values in the installation's database. The methods raise StoreFailed."""

    name = "PostgreSQL"

    def __init__(self, max_bytes: int, timer: Callable[[], float] = monotonic) -> None:
        self.max_bytes, self._timer = max_bytes, timer
        self._written, self._evicted_at, self._lock = 0, timer(), Lock()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, StoredValue]:
        """Return the values that were stored under the keys and have not expired, by key."""
        rows = self._run(Statement(GET_SQL, {"keys": list(keys)}), binary=True)
        return {bytes(key): StoredValue(bytes(value), seconds) for key, value, seconds in rows}

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        """Store the value for so many seconds, and return how many others were dropped to make space."""
        if connection.in_atomic_block:
            return 0
        parameters = {"key": key, "value": value, "size": len(value), "seconds": float(seconds)}
        self._run(Statement(PUT_SQL, parameters))
        return self._evict() if self._is_eviction_due(len(value)) else 0

    def used_bytes(self) -> int:
        """Return the bytes of all values together, also of those that have expired and are not dropped yet."""
        ((used,),) = self._run(Statement(USED_SQL, {})) or [(0,)]
        return int(used)

    def clear(self) -> None:
        """Delete all values. The bytes remain in the table's file until it is written anew."""
        self._run(Statement(CLEAR_SQL, {}))

    def _is_eviction_due(self, written: int) -> bool:
        with self._lock:
            self._written += written
            is_due = (
                self._written > self.max_bytes * EVICTION_SHARE or self._timer() > self._evicted_at + EVICTION_SECONDS
            )
            if is_due:
                self._written, self._evicted_at = 0, self._timer()
        return is_due

    def _evict(self) -> int:
        ((evictions,),) = self._run(Statement(EVICT_SQL, {"bytes": int(self.max_bytes * KEPT_SHARE)}))
        return int(evictions)

    def _run(self, statement: Statement, *, binary: bool = False) -> Rows:
        if connection.in_atomic_block:
            return []
        limit = Statement(LIMIT_SQL, {"milliseconds": str(TIMEOUT_MS)})
        try:
            return run_statement(statement, binary=binary, before=[limit])
        except (Error, PoolTimeout) as error:
            raise StoreFailed(type(error).__name__) from error
