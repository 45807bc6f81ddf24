"""Caches of the detection of conflicts: one text is compared with many others, and each of them with many over a day.

What they hold follows from their keys, texts and words. All are bounded, and `cache_bytes` tells what they take.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, NamedTuple, ParamSpec, TypeVar

from cachetools import LRUCache

Asking = ParamSpec("Asking")
Value = TypeVar("Value")


class _Returned(NamedTuple):
    """What a function returned, and the approximate bytes of memory of that and of the arguments."""

    value: Any
    size_bytes: int


class _Counted(NamedTuple):
    """The bytes that a cache takes now, the most that it may take, and how it is emptied."""

    used: Callable[[], float]
    limit: int
    clear: Callable[[], None]


_caches: list[_Counted] = []


def cached_texts(
    max_bytes: int, size: Callable[..., int]
) -> Callable[[Callable[Asking, Value]], Callable[Asking, Value]]:
    """Return a decorator that caches a function of texts, in at most so many bytes of memory.

    `size` gets the arguments, which are positional, and returns the approximate bytes that these and the result take.
    """
    known: LRUCache[tuple[Any, ...], _Returned] = LRUCache(max_bytes, lambda one: one.size_bytes)
    lock = Lock()
    _caches.append(_Counted(lambda: known.currsize, max_bytes, known.clear))

    def decorate(function: Callable[Asking, Value]) -> Callable[Asking, Value]:
        @wraps(function)
        def cached(*arguments: Asking.args, **named: Asking.kwargs) -> Value:
            with lock:
                found = known.get(arguments)
            if found is None:
                found = _Returned(function(*arguments, **named), size(*arguments, **named))
                if found.size_bytes <= max_bytes:
                    with lock:
                        known[arguments] = found
            value: Value = found.value
            return value

        return cached

    return decorate


def cached_words(entries: int, entry_bytes: int) -> Callable[[Callable[Asking, Value]], Callable[Asking, Value]]:
    """Return a decorator that caches so many results of a function of words, each with about so many bytes of memory
    together with its arguments.
    """

    def decorate(function: Callable[Asking, Value]) -> Callable[Asking, Value]:
        cached: Any = lru_cache(entries)(function)
        limit = entries * entry_bytes
        _caches.append(_Counted(lambda: cached.cache_info().currsize * entry_bytes, limit, cached.cache_clear))
        remembering: Callable[Asking, Value] = cached
        return remembering

    return decorate


def clear_caches() -> None:
    """Drop all that is cached."""
    for one in _caches:
        one.clear()


def cache_bytes() -> tuple[float, int]:
    """Return the approximate bytes of memory that all of these caches take, and the most that they may take."""
    return sum(one.used() for one in _caches), sum(one.limit for one in _caches)
