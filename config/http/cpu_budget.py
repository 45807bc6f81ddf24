"""CPU budget of a request: loops whose length somebody else decides ask `check_cpu()` whether they may go on.

A request may compute for REQUEST_CPU_MS in its thread, whatever else the machine does meanwhile; waiting costs nothing.
Commands and jobs have no budget, so that there the checks pass.

The check costs a tenth of a microsecond: a thread computes no longer than time passes, so the thread's own clock, which
is slow to read, is read only once the whole budget could be spent.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from time import monotonic, thread_time

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from config.http.errors import DossierError


class TooCostly(DossierError):
    """The request would have computed for longer than one request may."""

    status = 422
    code = "too_costly"
    title = "This takes too much work for one request"


class TookTooLong(DossierError):
    """The time for an answer was over before the work was done."""

    status = 503
    code = "took_too_long"
    title = "This was not done in time"


@dataclass(slots=True)
class _Limits:
    """Limits of the work at hand: `cpu_end` by the thread's clock, `wall_end` by the monotonic one, in seconds."""

    cpu_end: float
    wall_end: float
    next_look: float
    """The earliest moment, by the monotonic clock, at which one of the limits can be reached."""

    @classmethod
    def of(cls, cpu_end: float, wall_end: float) -> "_Limits":
        """Limits that are first looked at when the CPU time left could be spent."""
        return cls(cpu_end, wall_end, min(wall_end, monotonic() + cpu_end - thread_time()))

    def check(self) -> None:
        """Raise TooCostly or TookTooLong where a limit is reached."""
        now, left = monotonic(), self.cpu_end - thread_time()
        if left <= 0:
            raise TooCostly(
                "It was stopped, and nothing was changed. Send shorter texts, fewer items, or a smaller part at a time."
            )
        if now >= self.wall_end:
            raise TookTooLong(
                "It was stopped, and nothing was changed. Try again in a moment, or ask for less at a time."
            )
        self.next_look = min(self.wall_end, now + left)


class _Thread(threading.local):
    # Of the thread, and not of its context, which other threads inherit: each thread has a clock of its own.
    limits: _Limits | None = None


_THREAD = _Thread()


def check_cpu() -> None:
    """Raise TooCostly where the request at hand has used up its CPU time, TookTooLong where its time is over."""
    limits = _THREAD.limits
    if limits is not None and monotonic() >= limits.next_look:
        limits.check()


@contextmanager
def cpu_budget(seconds: float) -> Iterator[None]:
    """Allow the block so many seconds of this thread's CPU time, within what the block around it has left."""
    outer = _THREAD.limits
    cpu_end, wall_end = (outer.cpu_end, outer.wall_end) if outer else (inf, inf)
    with _limited(_Limits.of(min(cpu_end, thread_time() + seconds), wall_end)):
        yield


@contextmanager
def unlimited_cpu() -> Iterator[None]:
    """Let the block compute to its end: for work that is known to be bounded by something else."""
    with _limited(None):
        yield


@contextmanager
def wall_limit(seconds: float) -> Iterator[None]:
    """Let the checks in the block fail after so many seconds, however little was computed in them."""
    outer = _THREAD.limits
    cpu_end, wall_end = (outer.cpu_end, outer.wall_end) if outer else (inf, inf)
    with _limited(_Limits.of(cpu_end, min(wall_end, monotonic() + seconds))):
        yield


@contextmanager
def _limited(limits: _Limits | None) -> Iterator[None]:
    outer, _THREAD.limits = _THREAD.limits, limits
    try:
        yield
    finally:
        _THREAD.limits = outer


class CpuBudgetMiddleware:
    """Gives each request its CPU budget. Goes before all that computes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with cpu_budget(settings.REQUEST_CPU_MS / 1000):
            return self.get_response(request)
