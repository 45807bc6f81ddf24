"""When the request at hand came in: what waits for its turn has as much less time left to be answered in."""

from contextvars import ContextVar
from time import monotonic

_ARRIVED: ContextVar[float] = ContextVar("arrived")


def arrived_now() -> None:
    """Note that a request is there. For whoever takes it in, before it waits for anything."""
    _ARRIVED.set(monotonic())


def arrived() -> float:
    """By the monotonic clock, in seconds. Where nobody asked over HTTP: now."""
    return _ARRIVED.get(None) or monotonic()
