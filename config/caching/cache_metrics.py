"""Each cache reports its memory and its limit, and its hits, misses and evictions, to `/metrics`.

The ratio of the two, `memory_utilisation_ratio` (seed "Memory Layer": "memory utilisation below 80 % of the allocated
budget"), is computed from the sums over all processes: see `config.observability.metrics`.
"""

from typing import Literal

from prometheus_client import Counter, Gauge

Tier = Literal["process", "shared", "disk"]

USED_BYTES = "memory_cache_bytes"
LIMIT_BYTES = "memory_cache_limit_bytes"

_BYTES = Gauge(
    USED_BYTES, "Approximate bytes of memory that a cache uses.", ["tier", "cache"], multiprocess_mode="livesum"
)
_LIMIT = Gauge(
    LIMIT_BYTES, "The most bytes of memory that a cache may use.", ["tier", "cache"], multiprocess_mode="livesum"
)
_LOOKUPS = Counter(
    "memory_cache_tier_lookups_total",
    "Lookups in a cache, by tier: hit or miss.",
    ["tier", "cache", "result"],
)
_EVICTIONS = Counter(
    "memory_cache_evictions_total", "Entries that were dropped to make space for others.", ["tier", "cache"]
)


class CacheUsage:
    """The metrics of one cache. `cache` is a name that Dossier gives, never a key or a text."""

    def __init__(self, tier: Tier, cache: str) -> None:
        self._bytes, self._limit = _BYTES.labels(tier, cache), _LIMIT.labels(tier, cache)
        self._hits, self._misses = (_LOOKUPS.labels(tier, cache, result) for result in ("hit", "miss"))
        self._evictions = _EVICTIONS.labels(tier, cache)

    def use(self, used: float, limit: float) -> None:
        """Report the bytes that the cache uses in this process, and the most that it may use."""
        self._bytes.set(used)
        self._limit.set(limit)

    def count(self, *, hits: int = 0, misses: int = 0, evictions: int = 0) -> None:
        """Count lookups and evictions."""
        for counter, number in ((self._hits, hits), (self._misses, misses), (self._evictions, evictions)):
            if number:
                counter.inc(number)
