"""A cache in the memory of a process: bounded in bytes, and measured."""

from collections.abc import Callable

import pytest
from prometheus_client import REGISTRY

from config.caching.process_cache import ProcessCache


def metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"tier": "process", "cache": "trial", **labels}) or 0.0


@pytest.fixture
def moved() -> Callable[..., float]:
    """How much a counter of the cache `trial` has grown since the test began."""
    names = ("hit", "miss")
    before = {name: metric("memory_cache_tier_lookups_total", result=name) for name in names}
    evictions = metric("memory_cache_evictions_total")

    def grown(name: str) -> float:
        if name == "evictions":
            return metric("memory_cache_evictions_total") - evictions
        return metric("memory_cache_tier_lookups_total", result=name) - before[name]

    return grown


def test_the_least_recently_used_values_make_space(moved: Callable[..., float]) -> None:
    cache = ProcessCache[str, bytes]("trial", 100, len)
    for key in "abc":
        cache.put(key, bytes(40))
        assert cache.get("a") is not None, "which is used again and again"
    assert [key in cache for key in "abc"] == [True, False, True]
    assert cache.used_bytes == 80 == metric("memory_cache_bytes")
    assert metric("memory_cache_limit_bytes") == 100
    cache.put("large", bytes(101))
    assert "large" not in cache
    assert cache.get("b") is None
    assert cache.get_many("abc").keys() == {"a", "c"}
    assert (moved("hit"), moved("miss"), moved("evictions")) == (5, 2, 1)
    cache.clear()
    assert cache.used_bytes == 0 == metric("memory_cache_bytes")


@pytest.mark.parametrize("count", [1, 7, 1_000])
def test_however_much_is_stored_the_bound_holds(count: int) -> None:
    cache = ProcessCache[int, bytes]("trial", 1_000, len)
    cache.put_many({number: bytes(number % 300) for number in range(count)})
    assert cache.used_bytes <= 1_000
    assert count - 1 in cache


def test_each_value_has_a_lifetime_of_its_own(moved: Callable[..., float]) -> None:
    now = [0.0]
    cache = ProcessCache[str, float](
        "trial", 1_000, lambda _: 10, lifetime=lambda seconds: seconds, timer=lambda: now[0]
    )
    cache.put_many({"short": 10.0, "long": 20.0, "over": 0.0})
    now[0] = 9.9
    assert [key in cache for key in ("short", "long", "over")] == [True, True, False]
    now[0] = 10.0
    assert cache.get("short") is None
    assert cache.get("long") == 20.0
    cache.put("another", 1.0)
    assert cache.used_bytes == 20, "what has expired takes no room"
    assert moved("evictions") == 0


def test_a_value_that_is_not_valid_is_a_miss(moved: Callable[..., float]) -> None:
    cache = ProcessCache[str, int]("trial", 1_000, lambda _: 10)
    cache.put("a", 1)
    assert cache.get("a", lambda value: value > 1) is None
    assert cache.get("a", lambda value: value == 1) == 1
    assert (moved("hit"), moved("miss")) == (1, 1)
