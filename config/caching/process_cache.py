"""A process cache holds values in the memory of this process, for all its threads.

It is bounded in bytes: the least recently used entries are dropped to make space. Whoever uses it decides what
invalidates an entry: a lifetime, change counters, or nothing, where the value follows from the key. The setting
PROCESS_CACHES switches all of them off, for comparisons with what nothing was cached for.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from cachetools import LRUCache, TLRUCache
from django.conf import settings

from config.caching.cache_metrics import CacheUsage

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ProcessCache(Generic[Key, Value]):
    """Values by key.

    `size` returns the approximate bytes of memory of a value, and `lifetime` the seconds for which it may be returned;
    without it, values have no limit of time. `name` is that of the cache in `/metrics`.
    """

    def __init__(
        self,
        name: str,
        max_bytes: int,
        size: Callable[[Value], int],
        *,
        lifetime: Callable[[Value], float] | None = None,
        timer: Callable[[], float] = monotonic,
    ) -> None:
        self._usage = CacheUsage("process", name)
        self._entries: _Lasting[Key, Value] | _Expiring[Key, Value] = (
            _Expiring(max_bytes, lambda _, value, now: now + lifetime(value), timer, size)
            if lifetime
            else _Lasting(max_bytes, size)
        )
        self._size, self._max_bytes, self._lock = size, max_bytes, Lock()

    def get(self, key: Key, is_valid: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """Return the value; None if there is none, none any more, or one that is not valid."""
        with self._lock:
            try:
                found = self._entries[key]  # `get` would compare a long key once more
            except KeyError:
                found = None
        is_hit = found is not None and settings.PROCESS_CACHES and is_valid(found)
        self._usage.count(hits=is_hit, misses=not is_hit)
        return found if is_hit else None

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Return the values that there are, by key."""
        sought = [*keys] if settings.PROCESS_CACHES else []
        with self._lock:
            found = {key: value for key in sought if (value := self._entries.get(key)) is not None}
        self._usage.count(hits=len(found), misses=len(sought) - len(found))
        return found

    def __contains__(self, key: Key) -> bool:
        with self._lock:
            return settings.PROCESS_CACHES and key in self._entries

    def put(self, key: Key, value: Value) -> None:
        """Cache the value. One that is larger than the whole cache is not stored."""
        self.put_many({key: value})

    def put_many(self, values: Mapping[Key, Value]) -> None:
        """Cache the values by key. One that is larger than the whole cache is not stored."""
        with self._lock:
            before = self._entries.evictions
            for key, value in values.items():
                if settings.PROCESS_CACHES and self._size(value) <= self._max_bytes:
                    self._entries[key] = value
            evictions, used = self._entries.evictions - before, self._entries.currsize
        self._usage.count(evictions=evictions)
        self._usage.use(used, self._max_bytes)

    def clear(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()
        self._usage.use(0, self._max_bytes)

    @property
    def used_bytes(self) -> float:
        """The approximate bytes of memory of all entries."""
        return self._entries.currsize


class _Lasting(LRUCache[Key, Value]):
    """Entries without a limit of time; counts those that made space for others."""

    evictions = 0

    def popitem(self) -> tuple[Key, Value]:
        self.evictions += 1
        return super().popitem()


class _Expiring(TLRUCache[Key, Value, float]):
    """Entries with lifetimes; counts those that made space for others, and not those that expired."""

    evictions = 0

    def popitem(self) -> tuple[Key, Value]:
        self.evictions += 1
        return super().popitem()
