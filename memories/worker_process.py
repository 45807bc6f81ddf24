"""The process of a worker as its parent keeps it: started again when it dies, ended when the parent ends."""

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

from django.conf import settings

UNTIL_INPUT_ENDS = "--until-input-ends"

WATCH_SECONDS = 0.2
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before it is started again; doubled while it dies at once
LIVED_SECONDS = 30.0
STOP_SECONDS = 20.0  # then it is killed, and what it did is done again by another

logger = logging.getLogger(__name__)


class WorkerProcess:
    """A child that runs `manage.py work`, kept by a thread of ours.

    It reads its input, of which we hold the other end and never write: when we are gone, by SIGKILL too, the kernel
    closes that end and the worker stops by itself. It is in a session of its own, so that Ctrl-C reaches it through us.
    """

    def __init__(self, concurrency: int = 1) -> None:
        program = Path(settings.BASE_DIR) / "manage.py"
        self._command = [sys.executable, str(program), "work", f"--concurrency={concurrency}", UNTIL_INPUT_ENDS]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="worker process", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_to_stop(self) -> None:
        """The worker is to put back its job and to end."""
        self._ended.set()

    def stop(self) -> None:
        """Return when the worker is gone; also where none was started."""
        self.ask_to_stop()
        if self._thread.ident is not None:
            self._thread.join()

    def _keep(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while not self._ended.is_set():
            started = time.monotonic()
            code = self._run()
            if self._ended.is_set():
                return
            pause = FIRST_PAUSE_SECONDS if time.monotonic() - started > LIVED_SECONDS else pause
            logger.warning("the worker ended with code %d: starting another in %.0f s", code, pause)
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _run(self) -> int:
        """The exit code of one process, ended by itself or by us."""
        with subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        ) as process:
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
