"""A child process that is kept: started again when it dies, ended when it is no longer wanted."""

import logging
import subprocess
import threading
import time
from abc import ABC, abstractmethod

WATCH_SECONDS = 0.2
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before it is started again; doubled while it dies at once
LIVED_SECONDS = 30.0
STOP_SECONDS = 20.0  # then it is killed

logger = logging.getLogger(__name__)


class KeptProcess(ABC):
    """A child that a thread of ours looks after. Each kind knows how to start one, and how that notices our own end."""

    harmless_codes: frozenset[int] = frozenset()
    """Exit codes after which another one is started at once, without a word."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"{name} process", daemon=True)

    @abstractmethod
    def spawn(self) -> subprocess.Popen[bytes]:
        """Start one. It should be in a session of its own, so that Ctrl-C reaches it through us."""

    def ended(self) -> None:  # noqa: B027 - most kinds leave nothing behind
        """Clean up after one that ended. By itself, nothing."""

    def start(self) -> None:
        """Keep one running from now on."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """It is to finish what it is at, and to end."""
        self._ended.set()

    def stop(self) -> None:
        """Return when it is gone; also where none was started."""
        self.ask_to_stop()
        if self._thread.ident is not None:
            self._thread.join()

    def _keep(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._ended.is_set():
            started = time.monotonic()
            code = self._run()
            self.ended()
            if self._ended.is_set():
                return
            if code in self.harmless_codes:
                continue
            pause = FIRST_PAUSE_SECONDS if time.monotonic() - started > LIVED_SECONDS else pause
            logger.warning("the %s ended with code %d: starting another in %.0f s", self._name, code, pause)
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _run(self) -> int:
        """The exit code of one process, ended by itself or by us."""
        with self.spawn() as process:
            while process.poll() is None and not self._ended.wait(WATCH_SECONDS):
                pass
            if process.poll() is None:
                _end(process)
        return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
