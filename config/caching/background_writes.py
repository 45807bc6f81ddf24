"""Writes to shared caches happen in a thread of their own, so that no caller waits for them.

The thread has a database connection of its own, which it returns to the pool when nothing waits. If more writes wait
than have room, further ones are dropped: a value that is not stored is a miss.
"""

import logging
from collections.abc import Callable
from queue import Full, Queue
from threading import Lock, Thread

from django.db import connections

logger = logging.getLogger(__name__)

MOST_WAITING = 32

Write = Callable[[], None]


class BackgroundWrites:
    """Writes that wait for the thread, which begins with the first one and ends with the process."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._waiting: Queue[Write] = Queue(most_waiting)
        self._lock, self._thread = Lock(), Thread(target=self._run, name="cache writes", daemon=True)

    def submit(self, write: Write) -> None:
        """Have the thread call `write`, soon or, if too many wait, not at all."""
        try:
            self._waiting.put_nowait(write)
        except Full:
            return
        with self._lock:
            if not self._thread.ident:
                self._thread.start()

    def flush(self) -> None:
        """Wait until nothing waits."""
        self._waiting.join()

    def _run(self) -> None:
        while True:
            write = self._waiting.get()
            try:
                write()
            except Exception:
                logger.exception("a value was not cached")
            finally:
                if self._waiting.empty():
                    connections.close_all()
                self._waiting.task_done()


background_writes = BackgroundWrites()
