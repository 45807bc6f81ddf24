"""A request has two limits: its CPU time, and a deadline for its response, counted from its arrival.

Loops whose length depends on input call `check_cpu()`. A request may compute for REQUEST_CPU_MS in its thread, whatever
else the machine does; waiting is not counted. Commands and jobs have no budget, so their checks pass. The check costs a
tenth of a microsecond: a thread cannot compute for longer than time passes, so the thread's clock, which is slow to
read, is only read when the whole budget could be spent.
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
    """The request would exceed the CPU time of a request."""

    status = 422
    code = "too_costly"
    title = "The request is too costly"


class TookTooLong(DossierError):
    """The deadline for the response was over before the work was done."""

    status = 503
    code = "took_too_long"
    title = "The request timed out"


@dataclass(slots=True)
class _Limits:
    """The limits of the current work: `cpu_end` by the thread's clock, `wall_end` by the monotonic
    clock, in seconds.
    """

    cpu_end: float
    wall_end: float
    next_check: float
    """The earliest time, by the monotonic clock, at which one of the limits can be reached."""
    process_end: float
    """A limit like `cpu_end`, but work that exceeds it may continue in another process."""

    @classmethod
    def of(cls, cpu_end: float, wall_end: float, process_end: float = inf) -> "_Limits":
        """Return limits that are checked first when the remaining CPU time could be spent."""
        cpu_end = min(cpu_end, process_end)
        return cls(cpu_end, wall_end, min(wall_end, monotonic() + cpu_end - thread_time()), process_end)

    @classmethod
    def of_thread(cls) -> "_Limits":
        """Return the limits of the current work, which are infinite without a budget."""
        return _THREAD.limits or cls.of(inf, inf)

    def check(self, seconds: float) -> None:
        """Raise TooCostly if fewer seconds of CPU time are left, TookTooLong if the deadline has passed."""
        now, needed = monotonic(), thread_time() + seconds
        left = self.cpu_end - needed
        if left <= 0:
            _THREAD.was_stopped_by_process |= needed >= self.process_end
            raise TooCostly(
                "It was stopped, and nothing was changed. Send shorter texts, fewer items, or a smaller part at a time."
            )
        if now >= self.wall_end:
            raise TookTooLong(
                "It was stopped, and nothing was changed. Try again in a moment, or request less at a time."
            )
        self.next_check = min(self.wall_end, now + left + seconds)


class _ThreadState(threading.local):
    # Of the thread, and not of its context, which other threads inherit: each thread has a clock of its own.
    limits: _Limits | None = None
    was_stopped_by_process = False
    """Whether the current request was stopped by a limit that another process does not have."""


_THREAD = _ThreadState()


def check_cpu(seconds: float = 0.0) -> None:
    """Raise TooCostly if the current request has used up its CPU time, TookTooLong if its deadline has passed.

    `seconds` of CPU time are needed until the next check: if fewer are left, the request is stopped now.
    """
    limits = _THREAD.limits
    if limits is not None and monotonic() + seconds >= limits.next_check:
        limits.check(seconds)


def cpu_seconds_left() -> float:
    """Return the seconds of CPU time that the current work may still use in this process; infinite without a budget."""
    return _Limits.of_thread().cpu_end - thread_time()


@contextmanager
def cpu_budget(seconds: float) -> Iterator[None]:
    """Limit the CPU time of the block, in seconds of this thread, within the limit of the enclosing block."""
    outer = _Limits.of_thread()
    with _with_limits(_Limits.of(min(outer.cpu_end, thread_time() + seconds), outer.wall_end, outer.process_end)):
        yield


@contextmanager
def cpu_budget_here(seconds: float) -> Iterator[None]:
    """Limit the CPU time of the block in this process: work that exceeds it is repeated by another process."""
    outer = _Limits.of_thread()
    with _with_limits(_Limits.of(outer.cpu_end, outer.wall_end, thread_time() + seconds)):
        yield


@contextmanager
def unlimited_cpu() -> Iterator[None]:
    """Run the block without a CPU limit, in any process, because its work is bounded otherwise."""
    process_end = _Limits.of_thread().process_end
    with _with_limits(_Limits.of(inf, inf, process_end)):
        yield


@contextmanager
def wall_limit(seconds: float) -> Iterator[None]:
    """Let the checks in the block fail after this many seconds of wall-clock time."""
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
    """This middleware gives each request its CPU budget, so it precedes everything that computes.

    If the ASGI scope has `cpu_seconds`, that is the limit in this process. If the request was stopped by it, the
    scope's `was_stopped` is true afterwards: another process has to answer the request.
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
    """Store when a request arrived. The server calls this before the request waits for anything."""
    _ARRIVAL_TIME.set(monotonic())


def arrival_time() -> float:
    """Return when the request arrived, in seconds of the monotonic clock; outside HTTP, the current time."""
    return _ARRIVAL_TIME.get(None) or monotonic()
