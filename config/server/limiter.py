"""The limiter lets few requests of a process run at a time, and chooses the next one fairly.

Python runs one thread of a process at a time. If all requests began at once, each would take as long as all of them
together, and those with a deadline would miss it. So only a few run, enough to use the time in which one waits for the
database. A request that takes long mostly waits for another server: after a moment it no longer counts, and the next
may begin. A request that takes long because it computes lets others begin as well, but no other one of the same caller:
those are sent to another process if possible.

The order is that of start-time fair queueing: each caller has a clock that advances by the seconds that its requests
take, and the waiting request of the caller whose clock is furthest behind begins. A caller with one request waits for
the running one, never for forty of another caller. Requests of one caller begin in the order of their arrival.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

CHECK_SECONDS = 0.1
"""Seconds between two checks of whether a request computes."""
EXPECTED_SECONDS = 0.005
"""Seconds that are charged when a request begins, and corrected when it ends, so that concurrent
requests are not free.
"""
MAX_CALLERS = 1_000  # before clocks of callers without requests are forgotten


class MovedToHeavyLane(Exception):
    """The request did not start, because another one of its caller computes for long in this process."""


class _CallerQueue:
    """The requests of one caller in this process: `computing` are those that compute for long."""

    __slots__ = ("clock", "computing", "movable", "running", "waiting")

    def __init__(self) -> None:
        self.clock = 0.0
        self.running = 0
        self.computing = 0
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.movable: set[asyncio.Future[None]] = set()

    def mark_computing(self) -> None:
        """Note that a request computes for long, and send away waiting ones that can be moved."""
        self.computing += 1
        for turn in self.movable & {*self.waiting}:
            if not turn.done():
                turn.set_exception(MovedToHeavyLane())


class _Slot:
    """A request that may run."""

    def __init__(self, turns: "FairLimiter", share: _CallerQueue, is_computing: Callable[[], bool]) -> None:
        self._turns, self._share, self._is_computing = turns, share, is_computing
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._counts = True
        self._computes = False
        self._look = self._next_look()

    def end(self) -> None:
        """End the request and let the next one run."""
        self._look.cancel()
        self._share.running -= 1
        self._share.computing -= self._computes
        self._share.clock += min(self._loop.time() - self._begun, self._turns.counted_seconds) - EXPECTED_SECONDS
        self._turns.start_waiting(freed=int(self._counts))

    def _next_look(self) -> asyncio.TimerHandle:
        return self._loop.call_later(min(CHECK_SECONDS, self._turns.counted_seconds), self._look_at_it)

    def _look_at_it(self) -> None:
        if self._is_computing():
            self._computes = True
            self._share.mark_computing()
        else:
            self._look = self._next_look()
        if self._computes or self._loop.time() - self._begun >= self._turns.counted_seconds:
            freed, self._counts = int(self._counts), False
            self._turns.start_waiting(freed=freed)


class FairLimiter:
    """The fair queue of one event loop."""

    def __init__(self, at_once: int, counted_seconds: float, max_per_caller: int | None = None) -> None:
        """Let `at_once` requests run, each of which counts for at most `counted_seconds`; a caller has at most
        `max_per_caller` running ones.
        """
        self._free = at_once
        self.counted_seconds = counted_seconds
        self._most_each = max_per_caller
        self._clock = 0.0
        self._shares: dict[str, _CallerQueue] = {}

    @asynccontextmanager
    async def one(
        self, caller: str = "", *, is_computing: Callable[[], bool] = lambda: False, movable: bool = False
    ) -> AsyncIterator[None]:
        """Wait until the request may run, and run the block. `is_computing` tells whether a request that takes long
        computes.

        Raises MovedToHeavyLane if the request is `movable`.
        """
        share = self._share_of(caller)
        await self._begun(share, movable=movable)
        turn = _Slot(self, share, is_computing)
        try:
            yield
        finally:
            turn.end()

    def start_waiting(self, *, freed: int) -> None:
        """Start waiting requests while there are free places; `freed` requests count no longer."""
        self._free += freed
        self._begin_next()

    def _share_of(self, caller: str) -> _CallerQueue:
        if len(self._shares) > MAX_CALLERS:
            self._shares = {name: one for name, one in self._shares.items() if one.running or one.waiting}
        share = self._shares.setdefault(caller, _CallerQueue())
        if not share.waiting:  # time without requests is not saved up
            share.clock = max(share.clock, self._clock)
        return share

    async def _begun(self, share: _CallerQueue, *, movable: bool) -> None:
        if movable and share.computing:
            raise MovedToHeavyLane
        turn = asyncio.get_running_loop().create_future()
        share.waiting.append(turn)
        if movable:
            share.movable.add(turn)
        self._begin_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and not turn.exception():  # it came in the same moment
                share.running -= 1
                self.start_waiting(freed=1)
            raise
        finally:
            share.movable.discard(turn)
            if turn in share.waiting:
                share.waiting.remove(turn)

    def _begin_next(self) -> None:
        while self._free:
            waiting = [share for share in self._shares.values() if share.waiting and self._may_begin(share)]
            if not waiting:
                return
            share = min(waiting, key=lambda one: one.clock)
            self._clock = max(self._clock, share.clock)
            turn = share.waiting.popleft()
            if not turn.done():
                self._free -= 1
                share.running += 1
                share.clock += EXPECTED_SECONDS
                turn.set_result(None)

    def _may_begin(self, share: _CallerQueue) -> bool:
        return not share.computing and (self._most_each is None or share.running < self._most_each)
