"""How long the request at hand waits for vectors of a server: what has a deadline of its own waits no longer."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

_UNTIL: ContextVar[float] = ContextVar("embedder_until", default=math.inf)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Within the block, embedders on servers are waited for so long in all, or as long as is said around it."""
    token = _UNTIL.set(min(_UNTIL.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_to_wait(most: float) -> float:
    """What is left of the time, and at most so much; nothing, once it is over."""
    return max(0.0, min(most, _UNTIL.get() - monotonic()))
