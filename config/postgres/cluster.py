"""The embedded server is started or adopted, verified and stopped here. Its socket is in a private folder."""

import contextlib
import logging
import os
import signal
import stat
import subprocess
import time

import psycopg
from psycopg import pq

from config.postgres.account import Account
from config.postgres.creation import (
    Session,
    complete_contents,
    connect,
    create_cluster,
    is_refused,
    reset_admin_password,
)
from config.postgres.data_folder import ADMIN, PORT, DataFolder
from config.postgres.failures import EmbeddedPostgresError, InterruptedStartError, failure, refusal
from config.postgres.processes import POLL_SECONDS, await_orphans, find_postmaster, is_dead, is_postmaster, listener
from config.postgres.programs import Programs, ServerLog


def prepare_socket_folder(folder: DataFolder, account: Account) -> None:
    """Create the folder of the socket, or refuse one that others can access. Raises EmbeddedPostgresError, OSError."""
    place = folder.socket_folder
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
        account.owns(place)
    found = place.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() != account.uid:
        account.owns(place)  # we were killed between the two steps
        found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid:
        raise refusal(folder, f"{place} was made by somebody else", "Remove it")
    if stat.S_IMODE(found.st_mode) != 0o700:  # noqa: PLR2004
        place.chmod(0o700)


def has_socket(folder: DataFolder) -> bool:
    """Return whether the socket still exists; other programs may have deleted it."""
    return (folder.socket_folder / f".s.PGSQL.{PORT}").exists()


def clear_socket_folder(folder: DataFolder) -> None:
    """Remove the files that a dead server left. Raises OSError."""
    for leftover in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (folder.socket_folder / leftover).unlink(missing_ok=True)


def leave_socket_folder(folder: DataFolder) -> None:
    """Remove an empty socket folder from /tmp; one in the data folder remains."""
    if folder.socket_folder.parent != folder.path:
        with contextlib.suppress(OSError):
            folder.socket_folder.rmdir()


FAST_STOP_SECONDS = 300.0  # then an immediate stop, which loses nothing but makes the next start recover
SILENCE_SECONDS = 30.0  # a postmaster opens its socket before anything that takes long

logger = logging.getLogger(__name__)


class Cluster:
    """The files of the server and its only postmaster."""

    def __init__(self, folder: DataFolder, supervisor_lock: int) -> None:
        self.folder = folder
        self.programs = Programs(folder, supervisor_lock)
        self.log = ServerLog(folder.postgres_log)
        self.process: subprocess.Popen[bytes] | None = None  # None when the postmaster was adopted
        self.pid = 0

    def start(self) -> None:
        """Return when a server that is provably ours accepts connections.

        Raises EmbeddedPostgresError, OSError, and InterruptedStartError if the call can be repeated.
        """
        prepare_socket_folder(self.folder, self.programs.account)
        create_cluster(self.folder, self.programs)
        self._adopt_or_start()
        try:
            self._settle()
        except psycopg.OperationalError as error:
            if is_refused(error, ADMIN):
                logger.warning("the password of %s does not fit the cluster: setting it again", ADMIN)
                self.stop()
                reset_admin_password(self.folder, self.programs, self.log)
            raise InterruptedStartError(str(error)) from error

    def is_alive(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        return is_postmaster(self.folder, self.pid)

    def is_whole(self) -> bool:
        """Return whether the socket of the server still exists; other programs may have deleted it."""
        return has_socket(self.folder)

    def stop(self) -> None:
        """Stop the server by a fast shutdown, which ends sessions and writes everything; wait for its end."""
        deadline = time.monotonic() + FAST_STOP_SECONDS
        asked = signal.SIGINT
        self._signal(asked)
        while self.is_alive():
            if asked == signal.SIGINT and time.monotonic() > deadline:
                asked = signal.SIGQUIT
                logger.warning("the fast shutdown takes too long: stopping immediately")
                self._signal(asked)
            time.sleep(POLL_SECONDS)
        logger.info("stopped postmaster %d", self.pid)

    def leave(self) -> None:
        """Clean up after the last stop."""
        leave_socket_folder(self.folder)

    def _signal(self, number: int) -> None:
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _adopt_or_start(self) -> None:
        if self.process is not None and self.is_alive():
            return
        if postmaster := find_postmaster(self.folder, self.programs.account.uid):
            logger.info("adopting postmaster %d", postmaster)
            self.process, self.pid = None, postmaster
        elif self.folder.ping() != pq.Ping.NO_RESPONSE:
            raise self._another()
        else:
            self._start()

    def _start(self) -> None:
        await_orphans(self.folder, self.programs.account.uid)
        self._clear_leftovers()
        self.process = self.programs.postmaster(self.log)
        self.pid = self.process.pid
        logger.info("started postmaster %d", self.pid)

    def _clear_leftovers(self) -> None:
        """Remove the files of a dead server that would prevent PostgreSQL from starting.

        It is only called if no process of ours runs and no server answers at the socket. PostgreSQL itself handles a
        pid file of a dead process, and checks the shared memory that it names; it fails on an unreadable file, and on a
        pid that now belongs to another program.
        """
        clear_socket_folder(self.folder)
        file = self.folder.cluster / "postmaster.pid"
        if file.is_file() and not _names_dead_process(file.read_text(errors="replace")):
            logger.warning("removing postmaster.pid, which names no server of ours")
            file.unlink()

    def _settle(self) -> None:
        """Wait until a recovery has ended, verify that the server is ours, and create what is missing in it."""
        self._await_sign_ins()
        with connect(self.folder, ADMIN, "postgres") as admin:
            self._prove_ours(admin)
            complete_contents(admin, self.folder)

    def _await_sign_ins(self) -> None:
        last_answer = time.monotonic()
        while (answer := self.folder.ping()) != pq.Ping.OK:
            if not self.is_alive():
                raise self._death()
            if answer == pq.Ping.REJECT:  # it starts, or recovers, and says so
                last_answer = time.monotonic()
            elif time.monotonic() - last_answer > SILENCE_SECONDS:
                self.stop()
                raise InterruptedStartError("no answer at the socket")
            time.sleep(POLL_SECONDS)

    def _death(self) -> Exception:
        if self.process is None or self.process.returncode < 0:
            return InterruptedStartError("the postmaster was killed, or the adopted one was about to end")
        recent_errors = self.log.recent_errors()
        if any('"postmaster.pid" already exists' in complaint for complaint in recent_errors):
            return InterruptedStartError("a postmaster that was just being started came first")
        return failure(self.folder, "PostgreSQL does not start", recent_errors)

    def _prove_ours(self, admin: Session) -> None:
        row = admin.execute("SHOW data_directory").fetchone()
        if row != (str(self.folder.cluster),) or listener(admin.fileno()) not in {0, self.pid}:
            raise self._another()

    def _another(self) -> EmbeddedPostgresError:
        return refusal(self.folder, f"Another PostgreSQL serves {self.folder.socket_folder}", "Stop it")


def _names_dead_process(pid_file: str) -> bool:
    first = pid_file.partition("\n")[0].strip()
    return first.isdecimal() and int(first) != 0 and is_dead(int(first))
