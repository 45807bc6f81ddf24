"""`serve` restarts a child process that dies, and ends it when it is not needed any more."""

import logging
import socket
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from config.server.memory_settings import child_environment

WATCH_SECONDS = 0.2
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0  # before it is started again; doubled while it dies at once
STABLE_SECONDS = 30.0
STOP_SECONDS = 20.0  # then it is killed

logger = logging.getLogger(__name__)


class SupervisedProcess(ABC):
    """A child process that a thread supervises.

    Each subclass knows how to start it, and how the child notices the end of its parent.
    """

    expected_exit_codes: frozenset[int] = frozenset()
    """Exit codes after which another process is started at once, without a log line."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"{name} process", daemon=True)

    @abstractmethod
    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process. It should have a session of its own, so that Ctrl-C reaches it through its parent."""

    def ended(self) -> None:  # noqa: B027 - most kinds leave nothing behind
        """Clean up after a process that ended. The base class does nothing."""

    def start(self) -> None:
        """Keep a process running from now on."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Tell the process to finish its work and end."""
        self._ended.set()

    def stop(self) -> None:
        """Return when the process has ended; it may not have been started."""
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
            if code in self.expected_exit_codes:
                continue
            pause = FIRST_PAUSE_SECONDS if time.monotonic() - started > STABLE_SECONDS else pause
            logger.warning("the %s ended with code %d: starting another in %.0f s", self._name, code, pause)
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _run(self) -> int:
        """Return the exit code of one process, which ended by itself or was ended."""
        with self.spawn() as process:
            while process.poll() is None and not self._ended.wait(WATCH_SECONDS):
                pass
            if process.poll() is None:
                _terminate(process)
        return process.returncode


def _terminate(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


SOCKET_VARIABLE = "DOSSIER_HEAVY_SOCKET"
"""The environment variable with the address of the heavy lane."""
RESTART_EXIT_CODE = 75
"""The exit code of a heavy process that has to be replaced because of its memory."""


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Create a private folder for sockets and counts, which is deleted after the block."""
    with tempfile.TemporaryDirectory(prefix="dossier-serve-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def heavy_socket(folder: Path) -> Path:
    """Return the path of the socket of the heavy lane in the folder."""
    return folder / "heavy.sock"


class HeavyProcess(SupervisedProcess):
    """A child that runs `manage.py heavy`. It reads its input, which ends with its parent, even after SIGKILL."""

    expected_exit_codes = frozenset({RESTART_EXIT_CODE})

    def __init__(self, socket: Path, variables: Mapping[str, str]) -> None:
        super().__init__("heavy process")
        program = Path(settings.BASE_DIR) / "manage.py"
        self._command = [sys.executable, str(program), "heavy", f"--socket={socket}"]
        self._environment = child_environment(variables)

    def spawn(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )


class WebProcess(SupervisedProcess):
    """A child that runs `manage.py web`. It is not forked, because connections and threads must not be inherited.

    It gets its connections through a Unix socket, whose end it notices when the parent has ended, even after SIGKILL.
    """

    def __init__(
        self, admit: Callable[[socket.socket], None], variables: Mapping[str, str], gone: Callable[[], None]
    ) -> None:
        """`admit` gets our end of each socket; the variables are added to the environment; `gone` is called when a
        process ended.
        """
        super().__init__("web process")
        self._admit = admit
        self._variables = variables
        self._gone = gone

    def spawn(self) -> subprocess.Popen[bytes]:
        ours, theirs = socket.socketpair()
        with theirs:
            program, number = Path(settings.BASE_DIR) / "manage.py", theirs.fileno()
            process = subprocess.Popen(
                [sys.executable, str(program), "web", f"--line={number}"],
                env=child_environment(self._variables),
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._admit(ours)
        return process

    def ended(self) -> None:
        self._gone()
