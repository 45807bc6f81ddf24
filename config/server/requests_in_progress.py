"""Whether this process answers requests at the moment, so that work which nobody waits for is done while it is idle."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic


class Activity:
    """The requests in progress of this process, and when the last one ended."""

    def __init__(self) -> None:
        self._lock, self._in_progress, self._ended = Lock(), 0, monotonic()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as in progress while the block runs."""
        with self._lock:
            self._in_progress += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_progress -= 1
                self._ended = monotonic()

    @property
    def idle_seconds(self) -> float:
        """For how many seconds no request has been in progress; 0 while one is."""
        with self._lock:
            return 0.0 if self._in_progress else monotonic() - self._ended


activity = Activity()
