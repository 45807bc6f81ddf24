"""The server: brought up or adopted, proven to be ours, stopped."""

import contextlib
import logging
import os
import signal
import subprocess
import time

import psycopg
from psycopg import pq

from config.postgres.contents import Session, complete_contents, is_refused, sign_in
from config.postgres.creation import create_cluster, reset_admin_password
from config.postgres.deadline import POLL_SECONDS
from config.postgres.errors import EmbeddedPostgresError, InterruptedStartError, failure, refusal
from config.postgres.folder import ADMIN, DataFolder
from config.postgres.postmaster import await_orphans, find_postmaster, is_postmaster
from config.postgres.processes import is_dead, listener
from config.postgres.programs import Programs
from config.postgres.server_log import ServerLog
from config.postgres.socket_folder import clear_socket_folder, has_socket, leave_socket_folder, prepare_socket_folder

FAST_STOP_SECONDS = 300.0  # then an immediate stop, which loses nothing but makes the next start recover
SILENCE_SECONDS = 30.0  # a postmaster opens its socket before anything that takes long

logger = logging.getLogger(__name__)


class Cluster:
    """The files of the server and its one postmaster."""

    def __init__(self, folder: DataFolder, supervisor_lock: int) -> None:
        self.folder = folder
        self.programs = Programs(folder, supervisor_lock)
        self.log = ServerLog(folder.postgres_log)
        self.process: subprocess.Popen[bytes] | None = None  # None when the postmaster was adopted
        self.pid = 0

    def bring_up(self) -> None:
        """Return when a server that is provably ours accepts sign-ins.

        Raises EmbeddedPostgresError, OSError, and InterruptedStartError when it makes sense to call again.
        """
        prepare_socket_folder(self.folder, self.programs.account)
        create_cluster(self.folder, self.programs)
        self._adopt_or_start()
        try:
            self._settle()
        except psycopg.OperationalError as error:
            if is_refused(error, ADMIN):
                logger.warning("the password of %s does not fit the cluster: setting it anew", ADMIN)
                self.stop()
                reset_admin_password(self.folder, self.programs, self.log)
            raise InterruptedStartError(str(error)) from error

    def is_alive(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        return is_postmaster(self.folder, self.pid)

    def is_whole(self) -> bool:
        """Whether its socket is still there; somebody may have cleaned it away."""
        return has_socket(self.folder)

    def stop(self) -> None:
        """Fast shutdown: sessions are ended, everything is written; waits for the end."""
        deadline = time.monotonic() + FAST_STOP_SECONDS
        asked = signal.SIGINT
        self._signal(asked)
        while self.is_alive():
            if asked == signal.SIGINT and time.monotonic() > deadline:
                asked = signal.SIGQUIT
                logger.warning("the fast shutdown takes too long: stopping at once")
                self._signal(asked)
            time.sleep(POLL_SECONDS)
        logger.info("stopped postmaster %d", self.pid)

    def leave(self) -> None:
        """Tidy up after the last stop."""
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
        """Remove the files of a dead server that would keep PostgreSQL from starting.

        Only called when no process of ours runs and nobody answers at the socket. PostgreSQL itself copes
        with a pid file of a dead process, and checks the shared memory it names; it gives up on an unreadable
        file and on a pid that now belongs to an unrelated process.
        """
        clear_socket_folder(self.folder)
        file = self.folder.cluster / "postmaster.pid"
        if file.is_file() and not _names_dead_process(file.read_text(errors="replace")):
            logger.warning("removing postmaster.pid, which names no server of ours")
            file.unlink()

    def _settle(self) -> None:
        """Wait out a recovery, however long; prove that the server is ours; complete its contents."""
        self._await_sign_ins()
        with sign_in(self.folder, ADMIN, "postgres") as admin:
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
        complaints = self.log.complaints()
        if any('"postmaster.pid" already exists' in complaint for complaint in complaints):
            return InterruptedStartError("a postmaster that was just being started came first")
        return failure(self.folder, "PostgreSQL does not start", complaints)

    def _prove_ours(self, admin: Session) -> None:
        row = admin.execute("SHOW data_directory").fetchone()
        if row != (str(self.folder.cluster),) or listener(admin.fileno()) not in {0, self.pid}:
            raise self._another()

    def _another(self) -> EmbeddedPostgresError:
        return refusal(self.folder, f"Another PostgreSQL serves {self.folder.socket_folder}", "Stop it")


def _names_dead_process(pid_file: str) -> bool:
    first = pid_file.partition("\n")[0].strip()
    return first.isdecimal() and int(first) != 0 and is_dead(int(first))
