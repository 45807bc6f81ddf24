"""A request has limits: CPU time, and a moment at which its answer must be there, counted from its arrival.

Loops whose length somebody else decides ask `check_cpu()` whether they may go on.

A request may compute for REQUEST_CPU_MS in its thread, whatever else the machine does meanwhile; waiting costs nothing.
Commands and jobs have no budget, so that there the checks pass.

The check costs a tenth of a microsecond: a thread computes no longer than time passes, so the thread's own clock, which
is slow to read, is read only once the whole budget could be spent.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
    next_check: float
    """The earliest moment, by the monotonic clock, at which one of the limits can be reached."""
    process_end: float
    """Like `cpu_end`, for what may go on in another process."""

    @classmethod
    def of(cls, cpu_end: float, wall_end: float, process_end: float = inf) -> "_Limits":
        """Limits that are first looked at when the CPU time left could be spent."""
        cpu_end = min(cpu_end, process_end)
        return cls(cpu_end, wall_end, min(wall_end, monotonic() + cpu_end - thread_time()), process_end)

    @classmethod
    def of_thread(cls) -> "_Limits":
        """The limits of the work at hand, infinite where it has none."""
        return _THREAD.limits or cls.of(inf, inf)

    def check(self, seconds: float) -> None:
        """Raise TooCostly where fewer seconds of CPU time are left, TookTooLong where the time is over."""
        now, needed = monotonic(), thread_time() + seconds
        left = self.cpu_end - needed
        if left <= 0:
            _THREAD.was_stopped_by_process |= needed >= self.process_end
            raise TooCostly(
                "It was stopped, and nothing was changed. Send shorter texts, fewer items, or a smaller part at a time."
            )
        if now >= self.wall_end:
            raise TookTooLong(
                "It was stopped, and nothing was changed. Try again in a moment, or ask for less at a time."
            )
        self.next_check = min(self.wall_end, now + left + seconds)


class _ThreadState(threading.local):
    # Of the thread, and not of its context, which other threads inherit: each thread has a clock of its own.
    limits: _Limits | None = None
    was_stopped_by_process = False
    """Whether the request at hand was stopped by a limit that another process does not have."""


_THREAD = _ThreadState()


def check_cpu(seconds: float = 0.0) -> None:
    """Raise TooCostly where the request at hand has used up its CPU time, TookTooLong where its time is over.

    `seconds` of CPU time are needed until the next check: where fewer are left, it is stopped now.
    """
    limits = _THREAD.limits
    if limits is not None and monotonic() + seconds >= limits.next_check:
        limits.check(seconds)


@contextmanager
def cpu_budget(seconds: float) -> Iterator[None]:
    """Allow the block so many seconds of this thread's CPU time, within what the block around it has left."""
    outer = _Limits.of_thread()
    with _with_limits(_Limits.of(min(outer.cpu_end, thread_time() + seconds), outer.wall_end, outer.process_end)):
        yield


@contextmanager
def cpu_budget_here(seconds: float) -> Iterator[None]:
    """Allow the block so many seconds of CPU time in this process: another one does again what is stopped."""
    outer = _Limits.of_thread()
    with _with_limits(_Limits.of(outer.cpu_end, outer.wall_end, thread_time() + seconds)):
        yield


@contextmanager
def unlimited_cpu() -> Iterator[None]:
    """Let the block compute to its end, in this process or another: for work that is known to be bounded otherwise."""
    process_end = _Limits.of_thread().process_end
    with _with_limits(_Limits.of(inf, inf, process_end)):
        yield


@contextmanager
def wall_limit(seconds: float) -> Iterator[None]:
    """Let the checks in the block fail after so many seconds, however little was computed in them."""
    outer = _Limits.of_thread()
    with _with_limits(_Limits.of(outer.cpu_end, min(outer.wall_end, monotonic() + seconds), outer.process_end)):
        yield


@contextmanager
def _with_limits(limits: _Limits | None) -> Iterator[None]:
    outer, _THREAD.limits = _THREAD.limits, limits
    try:
        yield
    finally:
        _THREAD.limits = outer


class CpuBudgetMiddleware:
    """Gives each request its CPU budget. Goes before all that computes.

    Where the ASGI scope has `cpu_seconds`, the request may compute for so long here, and if it was stopped, the scope's
    `was_stopped` is true afterwards: it is to be answered by another process.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        scope = getattr(request, "scope", {})
        _THREAD.was_stopped_by_process = False
        with cpu_budget(settings.REQUEST_CPU_MS / 1000), cpu_budget_here(scope.get("cpu_seconds", inf)):
            response = self.get_response(request)
        if response.status_code == TooCostly.status and _THREAD.was_stopped_by_process:
            scope["was_stopped"] = True
        return response


_ARRIVAL_TIME: ContextVar[float] = ContextVar("arrived")


def note_arrival() -> None:
    """Note that a request has arrived. The server calls this before the request waits for anything."""
    _ARRIVAL_TIME.set(monotonic())


def arrival_time() -> float:
    """Return when the request arrived, in seconds of the monotonic clock; outside HTTP, the present moment."""
    return _ARRIVAL_TIME.get(None) or monotonic()
