"""The supervisor is the one process per data folder that starts the embedded PostgreSQL, watches it and stops it.

It runs as `python -m config.postgres.supervisor DATA_DIR`, in a session of its own, so that Ctrl-C in a terminal does
not reach it. It prints errors to its standard output for its starter; it closes the output without a word when the
server is ready.
"""

import contextlib
import fcntl
import logging
import logging.handlers
import os
import select
import signal
import sys
import time
from pathlib import Path

from config.postgres.cluster import Cluster
from config.postgres.data_folder import READY, STARTING, STOPPING, DataFolder, lock, open_lock
from config.postgres.failures import EmbeddedPostgresError, InterruptedStartError, explain_os_errors
from config.postgres.processes import POLL_SECONDS
from config.postgres.programs import LOG_BYTES


def detach_from_starter() -> None:
    """Continue as a child of init: the starter may live long, and would have to collect this process when it ends."""
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # libpq would heed them


def log_to(file: Path) -> None:
    """Write all log lines to the file, of at most 20 MiB."""
    log = logging.handlers.RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(handlers=[log], level=logging.INFO, format="%(asctime)s [%(process)d] %(message)s")


def close_standard_output() -> None:
    """Close the inherited standard output, because the starter may wait for its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if nothing > 2:  # noqa: PLR2004
        os.close(nothing)


GRACE_SECONDS = 3.0  # a command that follows another finds the server still up
WATCH_SECONDS = 0.25
LOCK_TRIES = 5
DEATHS_BEFORE_GIVING_UP, DEATHS_WINDOW_SECONDS = 5, 60.0

logger = logging.getLogger(__name__)


class Supervisor:
    """The supervisor keeps a cluster running while any process holds the clients lock; its own lock makes it the only
    one.
    """

    def __init__(self, folder: DataFolder, descriptor: int) -> None:
        self.folder = folder
        self.descriptor = descriptor
        self._say(STARTING)
        self.cluster = Cluster(folder, descriptor)
        self.deaths: list[float] = []
        self.hurried = False
        self.wake_up, wake_up_end = os.pipe()
        os.set_blocking(self.wake_up, False)
        os.set_blocking(wake_up_end, False)
        signal.set_wakeup_fd(wake_up_end, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._hurry)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Return when the server was stopped because it was not used. Raises EmbeddedPostgresError, OSError."""
        try:
            self._bring_up()
            clients = self._watch()
            self._say(STOPPING)
            self.cluster.stop()
            self.cluster.leave()
            os.close(clients)
        except BaseException:
            self._say(STOPPING)  # so that no client takes the server for one that will stay
            if self.cluster.process is not None:
                self.cluster.stop()
            raise

    def _hurry(self, *_: object) -> None:
        self.hurried = True

    def _say(self, status: str) -> None:
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, f"{os.getpid()} {status}\n".encode(), 0)

    def _bring_up(self) -> None:
        while True:
            try:
                self.cluster.start()
            except InterruptedStartError as error:
                self._count_death(str(error))
            else:
                self._say(READY)
                close_standard_output()
                return

    def _watch(self) -> int:
        """Return the clients lock, held exclusively, when no process has held it for the grace period."""
        unused_since = time.monotonic()
        while True:
            self._sleep()
            clients = self._lock_out_clients()
            if clients is None:
                unused_since, self.hurried = time.monotonic(), False
                self._look_after()
            elif self.hurried or time.monotonic() - unused_since >= GRACE_SECONDS:
                return clients
            else:
                os.close(clients)

    def _sleep(self) -> None:
        """Sleep until the next check, a signal, or the end of a child."""
        select.select([self.wake_up], [], [], WATCH_SECONDS)
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_up, 512)

    def _lock_out_clients(self) -> int | None:
        """Return the clients lock, held exclusively; None while another process holds it."""
        descriptor = open_lock(self.folder.clients_lock)
        if lock(descriptor, fcntl.LOCK_EX):
            return descriptor
        os.close(descriptor)
        return None

    def _look_after(self) -> None:
        self.cluster.log.bound()
        if self.cluster.is_alive() and self.cluster.is_whole():
            return
        self._say(STARTING)
        self._count_death("the postmaster is gone" if not self.cluster.is_alive() else "its socket is gone")
        self.cluster.stop()
        self._bring_up()

    def _count_death(self, reason: str) -> None:
        now = time.monotonic()
        logger.warning("starting again: %s", reason)
        self.deaths = [death for death in self.deaths if now - death < DEATHS_WINDOW_SECONDS] + [now]
        if len(self.deaths) > DEATHS_BEFORE_GIVING_UP:
            raise EmbeddedPostgresError(
                f"PostgreSQL died {len(self.deaths)} times within {DEATHS_WINDOW_SECONDS:.0f} s. Look for the "
                f"reason (memory, disk) and start again. Log: {self.folder.postgres_log}"
            )


def supervise(folder: DataFolder) -> None:
    """Run as the supervisor of the folder; return at once if there is another. Raises EmbeddedPostgresError."""
    with explain_os_errors(folder):
        folder.prepare()
        descriptor = open_lock(folder.supervisor_lock)
        for _ in range(LOCK_TRIES):  # a client that looks whether there is a supervisor holds the lock for an instant
            if lock(descriptor, fcntl.LOCK_EX):
                log_to(folder.supervisor_log)
                Supervisor(folder, descriptor).run()
                return
            time.sleep(POLL_SECONDS)


def main() -> None:
    """Run `python -m config.postgres.supervisor DATA_DIR`; a failure is printed to standard output, in one line."""
    folder = DataFolder(Path(sys.argv[1]))
    detach_from_starter()
    try:
        supervise(folder)
    except EmbeddedPostgresError as error:
        logger.error("%s", error)  # noqa: TRY400 - the sentence says all
        _complain(str(error))
    except Exception as error:
        logger.exception("the supervisor failed")
        _complain(f"The supervisor of the embedded PostgreSQL failed ({error}). Log: {folder.supervisor_log}")


def _complain(sentence: str) -> None:
    with contextlib.suppress(OSError):
        os.write(1, sentence.encode())
    sys.exit(1)


if __name__ == "__main__":
    main()
