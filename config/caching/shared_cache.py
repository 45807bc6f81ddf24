"""A shared cache holds values for several processes: those of an installation, or those of a machine.

Its store decides which: PostgreSQL, Redis, a file. Nothing depends on it: whatever goes wrong is a miss. A store that
fails is left alone for a second, and for twice as long after each further failure, up to a minute; then one caller
tries it. So a server that does not answer costs a request its timeout once, and nothing while it is left alone. Values
are sealed (`config.caching.sealing`): a store that was damaged, filled by others or copied from another installation
gives misses as well.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from config.backoff import Backoff
from config.caching.background_writes import BackgroundWrites
from config.caching.cache_metrics import CacheUsage, Tier
from config.caching.sealing import seal, unseal

logger = logging.getLogger(__name__)

Outcome = TypeVar("Outcome")

LARGEST_SHARE = 1 / 16
"""The largest share of the cache that one value may take."""


class StoreFailed(Exception):
    """The store did not do what was asked, or not in time; the message names no value and no address."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value as the store returns it, and the seconds until it expires."""

    value: bytes
    seconds: float


class CacheStore(Protocol):
    """Where a shared cache keeps its values. All methods raise StoreFailed, soon if the store does not answer."""

    @property
    def name(self) -> str:
        """The name of the store in log lines."""

    @property
    def max_bytes(self) -> int:
        """The most bytes of all values together."""

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, StoredValue]:
        """Return the values that were stored under the keys and have not expired, by key, in one round trip."""

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        """Store the value for so many seconds, and return how many others were dropped to make space."""

    def used_bytes(self) -> int:
        """Return the bytes of all values together."""

    def clear(self) -> None:
        """Remove all values, so that the store holds no bytes of them."""


class SharedCache:
    """Values by key in a store; without a store, there are none. `tier` and `name` are those in `/metrics`."""

    def __init__(
        self,
        tier: Tier,
        name: str,
        store: CacheStore | None,
        timer: Callable[[], float] = monotonic,
        background: BackgroundWrites | None = None,
    ) -> None:
        self.tier, self.name, self._store, self._timer, self._background = tier, name, store, timer, background
        self._usage, self._backoff = CacheUsage(tier, name), Backoff(timer)

    @property
    def max_bytes(self) -> int:
        """The most bytes of all values together; 0 without a store."""
        return self._store.max_bytes if self._store else 0

    def get(self, key: bytes) -> StoredValue | None:
        """Return the value under the key, and for how long it is valid; None without one."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, StoredValue]:
        """Return the values under the keys, each with how long it is valid, by one round trip to the store."""
        if self._store is None:
            return {}
        stored = self._attempt(partial(self._store.get_many, keys)) or {}
        opened = {key: unseal(key, one.value) for key, one in stored.items()}
        return {key: StoredValue(value, stored[key].seconds) for key, value in opened.items() if value is not None}

    def put(self, key: bytes, value: bytes, seconds: float) -> int:
        """Store the value for so many seconds, and return its bytes in the store; 0 if it is too large, or failed."""
        if self._store is None:
            return 0
        sealed = seal(key, value)
        if len(sealed) > self._store.max_bytes * LARGEST_SHARE:
            return 0
        evictions = self._attempt(partial(self._store.put, key, sealed, seconds))
        self._usage.count(evictions=evictions or 0)
        return 0 if evictions is None else len(sealed)

    def put_later(self, key: bytes, encode: Callable[[], bytes | None], seconds: float) -> None:
        """Store what `encode` returns, unless it is None, for so many seconds from now.

        With `background`, its thread encodes and stores the value; otherwise it is stored at once.
        """
        expires = self._timer() + seconds

        def write() -> None:
            value, left = encode(), expires - self._timer()
            if value is not None and left > 0:
                self.put(key, value, left)

        if self._store is not None:
            (self._background.submit if self._background else _at_once)(write)

    def clear(self) -> bool:
        """Remove all values, and return whether that is done; false if the store does not answer."""
        if self._store is None:
            return True
        try:
            self._store.clear()
        except StoreFailed as error:
            logger.warning("%s did not remove its values: %s", self._store.name, error)
            return False
        return True

    def count(self, *, hit: bool) -> None:
        """Count a lookup. The caller decides what is a hit, because a value may be outdated."""
        self._usage.count(hits=hit, misses=not hit)

    def used_and_limit(self) -> tuple[int, int] | None:
        """Return the bytes of all values and their limit; None if there is no store, or if it does not answer."""
        if self._store is None or (used := self._attempt(self._store.used_bytes)) is None:
            return None
        return used, self._store.max_bytes

    def _attempt(self, call: Callable[[], Outcome]) -> Outcome | None:
        """Return the outcome of the call; None if it failed, or if the store is left alone."""
        if not self._backoff.may_try():
            return None
        try:
            outcome = call()
        except StoreFailed as error:
            if self._backoff.failed() and self._store:
                logger.warning("%s is not used as a cache for a while: %s", self._store.name, error)
            return None
        self._backoff.succeeded()
        return outcome


def _at_once(write: Callable[[], None]) -> None:
    write()
