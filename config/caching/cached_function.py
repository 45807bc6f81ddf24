"""A cached function returns what it returned before for the same arguments, which decide its result alone.

It is like `functools.lru_cache`, but bounded in bytes and counted on `/metrics`: for functions of texts, whose length a
number of entries does not bound.
"""

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

from config.caching.process_cache import ProcessCache

Asking = ParamSpec("Asking")
Value = TypeVar("Value")


class _Returned(NamedTuple):
    """What the function returned, and the approximate bytes of memory of that and of the arguments."""

    value: Any
    size_bytes: int


def cached_function(
    name: str, max_bytes: int, size: Callable[..., int]
) -> Callable[[Callable[Asking, Value]], Callable[Asking, Value]]:
    """Return a decorator that caches a function of hashable positional arguments, in at most so many bytes of memory.

    `size` gets the arguments and returns the approximate bytes of memory that these and the result take. `name` is that
    of the cache in `/metrics`.
    """
    cache = ProcessCache[tuple[Any, ...], _Returned](name, max_bytes, attrgetter("size_bytes"))

    def decorate(function: Callable[Asking, Value]) -> Callable[Asking, Value]:
        @wraps(function)
        def cached(*arguments: Asking.args, **named: Asking.kwargs) -> Value:
            if named:
                raise TypeError("a cached function takes positional arguments only")
            known = cache.get(arguments)
            if known is None:
                known = _Returned(function(*arguments, **named), size(*arguments))
                cache.put(arguments, known)
            value: Value = known.value
            return value

        return cached

    return decorate
