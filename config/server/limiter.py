"""Turns: few requests of a process are under way at a time, and whoever used least of it is next.

Python runs one thread of a process at a time. Were all requests begun at once, each would take as long as all of them
together, and those with a deadline would miss it, one like the other. So only a few are under way, enough to use the
time in which one waits for the database. Whoever takes long mostly waits for somebody else: after a moment it no longer
counts, and the next may begin, so that nobody who hangs keeps others from their turn. One that takes long because it
computes lets others begin as well, but no other one of the same caller: those that wait are sent to another process
where they can go there.

The order is that of start-time fair queueing: each caller has a clock that runs on by the seconds that its requests
take, and the waiting request of the caller whose clock is furthest behind begins. A caller with one request waits for
the one under way, never for forty of somebody else. Requests of one caller begin in the order in which they came.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

CHECK_SECONDS = 0.1
"""Time between two looks at whether a request computes."""
EXPECTED_SECONDS = 0.005
"""Charged when a request begins, and corrected when it ends: two that begin together are not taken for free."""
MAX_CALLERS = 1_000  # before clocks of callers without requests are forgotten


class MovedToHeavyLane(Exception):
    """A request did not get its turn, because another one of its caller computes for long in this process."""


class _CallerQueue:
    """One caller's requests in this process: `computing` are those that do so for long."""

    __slots__ = ("clock", "computing", "movable", "running", "waiting")

    def __init__(self) -> None:
        self.clock = 0.0
        self.running = 0
        self.computing = 0
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.movable: set[asyncio.Future[None]] = set()

    def mark_computing(self) -> None:
        """Note that one computes for long, and send away those that wait and can go."""
        self.computing += 1
        for turn in self.movable & {*self.waiting}:
            if not turn.done():
                turn.set_exception(MovedToHeavyLane())


class _Slot:
    """A request that has its turn."""

    def __init__(self, turns: "FairLimiter", share: _CallerQueue, is_computing: Callable[[], bool]) -> None:
        self._turns, self._share, self._is_computing = turns, share, is_computing
        self._loop = asyncio.get_running_loop()
        self._begun = self._loop.time()
        self._counts = True
        self._computes = False
        self._look = self._next_look()

    def end(self) -> None:
        """Give the turn back."""
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
    """Turns in one event loop."""

    def __init__(self, at_once: int, counted_seconds: float, max_per_caller: int | None = None) -> None:
        """`at_once` requests count, each for `counted_seconds` at most; one caller has at most `max_per_caller`
        running, counted or not."""
        self._free = at_once
        self.counted_seconds = counted_seconds
        self._most_each = max_per_caller
        self._clock = 0.0
        self._shares: dict[str, _CallerQueue] = {}

    @asynccontextmanager
    async def one(
        self, caller: str = "", *, is_computing: Callable[[], bool] = lambda: False, movable: bool = False
    ) -> AsyncIterator[None]:
        """Wait for a turn. It ends with the block, or for the others as soon as it no longer counts. `is_computing`
        tells whether a request that takes long computes. Raises Overtaken where it is `movable`."""
        share = self._share_of(caller)
        await self._begun(share, movable=movable)
        turn = _Slot(self, share, is_computing)
        try:
            yield
        finally:
            turn.end()

    def start_waiting(self, *, freed: int) -> None:
        """Let those begin for whom there is room; `freed` turns count no longer."""
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
