"""Turns: few requests of a process are under way at a time, and whoever used least of it is next.

Python runs one thread of a process at a time. Were all requests begun at once, each would take as long as all of them
together, and those with a deadline would miss it, one like the other. So only a few are under way, enough to use the
time in which one waits for the database. Whoever takes long does so because it waits for somebody else: after a moment
it no longer counts, and the next may begin, so that nobody who hangs keeps others from their turn.

The order is that of start-time fair queueing: each caller has a clock that runs on by the seconds that its requests
take, and the waiting request of the caller whose clock is furthest behind begins. A caller with one request waits for
the one under way, never for forty of somebody else. Requests of one caller begin in the order in which they came.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

EXPECTED_SECONDS = 0.005
"""Charged when a request begins, and corrected when it ends: two that begin together are not taken for free."""
MOST_CALLERS = 1_000  # before clocks of callers without requests are forgotten


class _Share:
    """One caller's requests in this process."""

    __slots__ = ("clock", "running", "waiting")

    def __init__(self) -> None:
        self.clock = 0.0
        self.running = 0
        self.waiting: deque[asyncio.Future[None]] = deque()


class Turns:
    """Turns in one event loop."""

    def __init__(self, at_once: int, counted_seconds: float, most_each: int | None = None) -> None:
        """`at_once` requests count, each for `counted_seconds` at most; one caller has at most `most_each` running,
        counted or not."""
        self._free = at_once
        self._counted_seconds = counted_seconds
        self._most_each = most_each
        self._clock = 0.0
        self._shares: dict[str, _Share] = {}

    @asynccontextmanager
    async def one(self, caller: str = "") -> AsyncIterator[None]:
        """Wait for a turn. It ends with the block, or for the others as soon as it no longer counts."""
        share = self._share_of(caller)
        await self._begun(share)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        over = loop.call_later(self._counted_seconds, self._release)
        try:
            yield
        finally:
            share.running -= 1
            share.clock += min(loop.time() - begun, self._counted_seconds) - EXPECTED_SECONDS
            if over.when() > loop.time():
                over.cancel()
                self._release()
            else:
                self._begin_next()

    def _share_of(self, caller: str) -> _Share:
        if len(self._shares) > MOST_CALLERS:
            self._shares = {name: one for name, one in self._shares.items() if one.running or one.waiting}
        share = self._shares.setdefault(caller, _Share())
        if not share.waiting:  # time without requests is not saved up
            share.clock = max(share.clock, self._clock)
        return share

    async def _begun(self, share: _Share) -> None:
        turn = asyncio.get_running_loop().create_future()
        share.waiting.append(turn)
        self._begin_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came in the same moment
                share.running -= 1
                self._release()
            elif turn in share.waiting:
                share.waiting.remove(turn)
            raise

    def _release(self) -> None:
        self._free += 1
        self._begin_next()

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

    def _may_begin(self, share: _Share) -> bool:
        return self._most_each is None or share.running < self._most_each
