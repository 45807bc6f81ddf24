"""Turns: requests begin in the order in which they came, and few of them at a time.

Python runs one thread of a process at a time. Were all requests begun at once, each would take as long as all of them
together, and those with a deadline would miss it, one like the other. So only a few are under way, enough to use the
time in which one waits for the database. Whoever takes long does so because it waits for somebody else: after a moment
it no longer counts, and the next may begin, so that nobody who hangs keeps others from their turn.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Turns in one event loop."""

    def __init__(self, at_once: int, counted_seconds: float) -> None:
        self._free = asyncio.Semaphore(at_once)  # which is fair: first come, first served
        self._counted_seconds = counted_seconds

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a turn. It ends with the block, or for the others as soon as it no longer counts."""
        await self._free.acquire()
        over = asyncio.get_running_loop().call_later(self._counted_seconds, self._free.release)
        try:
            yield
        finally:
            if over.when() > asyncio.get_running_loop().time():
                over.cancel()
                self._free.release()
