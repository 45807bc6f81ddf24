"""A service that failed is left alone for a while, which grows with each further failure."""

from collections.abc import Callable
from threading import Lock
from time import monotonic

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0


class Backoff:
    """Tells whether to try a service that may have failed: not before a pause of a second, which doubles with each
    further failure, up to a minute.

    After a pause one caller tries, while all others still leave the service alone. So a service that does not answer
    costs somebody its timeout once per pause. All methods may be called by several threads.
    """

    def __init__(self, timer: Callable[[], float] = monotonic) -> None:
        self._timer, self._lock = timer, Lock()
        self._pause = self._retry_at = 0.0

    def may_try(self) -> bool:
        """Return whether the caller may use the service now. If so, it reports `succeeded` or `failed` afterwards."""
        with self._lock:
            if self._timer() < self._retry_at:
                return False
            if self._pause:  # all others wait for what becomes of this attempt
                self._retry_at = self._timer() + self._pause
            return True

    def succeeded(self) -> None:
        """Let everybody use the service."""
        with self._lock:
            self._pause = self._retry_at = 0.0

    def failed(self) -> bool:
        """Begin a pause. Return whether it is the first one, of which a log line should tell."""
        with self._lock:
            is_first = not self._pause
            self._pause = min(max(FIRST_PAUSE_SECONDS, 2 * self._pause), LONGEST_PAUSE_SECONDS)
            self._retry_at = self._timer() + self._pause
        return is_first
