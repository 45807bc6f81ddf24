"""This is the interface of the embedded PostgreSQL: where it is, how to connect, and how to keep it running while
needed.

Two locks of the kernel decide everything, so a process that is killed at any moment leaves nothing to clean up:

- `postgres.clients`: every process that needs the server holds a shared lock; the supervisor takes it exclusively
before it stops the server;

- `postgres.supervisor`: the one supervisor (`config/postgres/supervisor.py`) of the data folder holds it, and writes
its pid and its status into it.

A client that holds the first lock and finds the second one free starts a supervisor, and waits until it is ready.
"""

from pathlib import Path
from typing import Literal

from psycopg import pq

from config.postgres.attachment import attachment_to, is_anybody_attached
from config.postgres.data_folder import DATABASE, PORT, READY, ROLES, STOPPING, DataFolder
from config.postgres.failures import EmbeddedPostgresError, explain_os_errors
from config.postgres.launch import ask_to_stop, is_supervisor, start_supervisor
from config.postgres.processes import Deadline

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError"]

PROBES_BEFORE_SHARED = 10  # others hold the clients lock for good when so many tries in a row have failed


class EmbeddedPostgres:
    """The PostgreSQL server of one data folder, shared by all processes that attach to it."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = DataFolder(Path(data_dir).resolve())
        self._attachment = attachment_to(self._folder)

    def connection(self, role: Literal["app", "owner"], database: str = DATABASE) -> dict[str, str]:
        """Return Django's HOST, PORT, NAME, USER and PASSWORD; the server need not run and is not started.

        Raises EmbeddedPostgresError if the data folder cannot be written.
        """
        user = ROLES[role]
        with explain_os_errors(self._folder):
            self._folder.prepare()
            return {
                "HOST": str(self._folder.socket_folder),
                "PORT": PORT,
                "NAME": database,
                "USER": user,
                "PASSWORD": self._folder.password(user),
            }

    def attach(self) -> None:
        """Return when the server accepts connections; it runs until this process detaches or ends.

        Repeated calls are cheap, and restart a dead server. A forked child shares its parent's attachment: the server
        runs until both have detached or ended. Raises EmbeddedPostgresError.
        """
        with self._attachment.guard, explain_os_errors(self._folder):
            was_registered = self._attachment.descriptor is not None
            try:
                self._wait_until_served(Deadline(self._folder))
            except BaseException:
                if not was_registered:
                    self._attachment.release()
                raise

    def is_kept_up(self) -> bool:
        """Return whether this process is attached and the supervisor reports the server as ready; this
        reads two files.
        """
        with self._attachment.guard, explain_os_errors(self._folder):
            supervisor = self._folder.supervisor() if self._attachment.is_held(self._folder) else None
            return supervisor is not None and supervisor[1] == READY

    def detach(self, *, wait: bool = False) -> None:
        """Detach this process from the server.

        With `wait`, a server that no other process needs stops at once, and the call returns when the server and its
        supervisor have ended, or when other processes turn out to use it. Raises EmbeddedPostgresError.
        """
        with self._attachment.guard, explain_os_errors(self._folder):
            self._attachment.release()
            if wait:
                self._wait_until_gone(Deadline(self._folder))

    def is_running(self) -> bool:
        """Return whether the server accepts connections now."""
        with explain_os_errors(self._folder):
            return self._folder.path.is_dir() and self._folder.ping() == pq.Ping.OK

    def _wait_until_served(self, deadline: Deadline) -> None:
        self._attachment.register(self._folder, deadline)
        while not self._is_served():
            if self._folder.supervisor() is None:
                start_supervisor(self._folder, deadline)
            else:
                deadline.pause()

    def _is_served(self) -> bool:
        supervisor = self._folder.supervisor()
        return supervisor is not None and supervisor[1] == READY and self._folder.ping() == pq.Ping.OK

    def _wait_until_gone(self, deadline: Deadline) -> None:
        """Request a stop as soon as no process is attached, and wait for the supervisor's end or another user."""
        pid, failures = 0, 0
        while (supervisor := self._folder.supervisor()) is not None or self.is_running():
            pid, status = supervisor or (0, "")
            if not is_anybody_attached(self._folder):
                failures = 0
                # A server that has lost its supervisor gets a new one, which knows how to stop it.
                ask_to_stop(self._folder, pid) if supervisor else start_supervisor(self._folder, deadline)
            elif status != STOPPING:
                failures += 1
            if failures >= PROBES_BEFORE_SHARED:
                return
            deadline.pause()
        while is_supervisor(self._folder, pid):  # its locks go a moment before it does
            deadline.pause()
