"""The Redis store keeps shared values on a server that the setting CACHE_URL names: Redis 5 or newer, or Valkey.

The server need not know a limit: a script, which Redis runs as one step, stores a value and drops the oldest ones above
the limit. It knows them by an index of keys and expiries, and one of sizes. All keys begin with `{dossier-cache}`, so
that they are on one node of a cluster, and other keys of the server are left alone. Each command has a short timeout
and is not repeated.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from config.caching.shared_cache import StoredValue, StoreFailed

TIMEOUT_SECONDS = 0.1
PREFIX = b"{dossier-cache}:"
EXPIRIES, SIZES, TOTAL = PREFIX + b"expiries", PREFIX + b"sizes", PREFIX + b"bytes"
KEPT_SHARE = 3 / 4
CLEARED_TOGETHER = 500

# KEYS: the value's key, the index of expiries, the index of sizes, the sum of sizes.
# ARGV: the value, its lifetime in milliseconds, the limit in bytes, the bytes that are left after an eviction.
PUT_SCRIPT = """
local function drop(key)
    redis.call('DECRBY', KEYS[4], tonumber(redis.call('HGET', KEYS[3], key) or 0))
    redis.call('HDEL', KEYS[3], key)
    redis.call('ZREM', KEYS[2], key)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[2])
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do drop(key) end
drop(KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', lifetime)
redis.call('ZADD', KEYS[2], now + lifetime, KEYS[1])
redis.call('HSET', KEYS[3], KEYS[1], #ARGV[1])
local total, evictions = redis.call('INCRBY', KEYS[4], #ARGV[1]), 0
if total > tonumber(ARGV[3]) then
    while total > tonumber(ARGV[4]) do
        local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
        if not oldest then break end
        drop(oldest)
        redis.call('DEL', oldest)
        total, evictions = tonumber(redis.call('GET', KEYS[4])), evictions + 1
    end
end
for index = 2, 4 do
    if redis.call('PTTL', KEYS[index]) < lifetime then redis.call('PEXPIRE', KEYS[index], lifetime) end
end
return evictions
"""


class RedisStore:
    """Shared values on a Redis server. The methods raise StoreFailed. Nothing connects before the first use."""

    name = "Redis"

    def __init__(self, url: str, max_bytes: int) -> None:
        self.max_bytes, self._url = max_bytes, url

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, StoredValue]:
        """Return the values that were stored under the keys and have not expired, by key."""
        try:
            asked = self._server.pipeline(transaction=False)
            for key in keys:
                asked = asked.get(PREFIX + key).pttl(PREFIX + key)
            told = asked.execute()
        except (RedisError, OSError) as error:
            raise StoreFailed(type(error).__name__) from error
        return {
            key: StoredValue(value, milliseconds / 1000)
            for key, value, milliseconds in zip(keys, told[::2], told[1::2], strict=True)
            if isinstance(value, bytes) and milliseconds > 0
        }

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        """Store the value for so many seconds, and return how many others were dropped to make space."""
        keys = [PREFIX + key, EXPIRIES, SIZES, TOTAL]
        values = [value, max(1, int(seconds * 1000)), self.max_bytes, int(self.max_bytes * KEPT_SHARE)]
        try:
            return int(self._put(keys=keys, args=values))
        except (RedisError, OSError, ValueError) as error:
            raise StoreFailed(type(error).__name__) from error

    def used_bytes(self) -> int:
        """Return the bytes of all values together, also of those that have expired since the last one was stored."""
        try:
            return max(0, int(self._server.get(TOTAL) or 0))
        except (RedisError, OSError, ValueError) as error:
            raise StoreFailed(type(error).__name__) from error

    def clear(self) -> None:
        """Remove all values, in batches; also those that this process did not store."""
        try:
            for key in self._server.scan_iter(match=PREFIX + b"*", count=CLEARED_TOGETHER):
                self._server.unlink(key)
        except (RedisError, OSError) as error:
            raise StoreFailed(type(error).__name__) from error

    @cached_property
    def _server(self) -> Any:
        return Redis.from_url(
            self._url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    @cached_property
    def _put(self) -> Any:
        return self._server.register_script(PUT_SCRIPT)
