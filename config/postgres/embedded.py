"""The embedded PostgreSQL as its users see it: where it is, how to sign in, how to keep it up while needed.

Two locks of the kernel's decide everything, so a process killed at any moment leaves nothing to clean up:

- `postgres.clients`: whoever needs the server holds it shared; the supervisor takes it for itself alone
  before it stops the server;
- `postgres.supervisor`: the one supervisor (`config/postgres/supervisor.py`) of the data folder holds it, and
  writes its pid and its status into it.

A client that holds the first and finds the second free starts a supervisor, and waits until that is ready.
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
        """Django's HOST, PORT, NAME, USER and PASSWORD; the server need not run and is not started.

        Raises EmbeddedPostgresError when the data folder cannot be written.
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
        """Return when the server accepts sign-ins; it stays up until this process detaches or ends.

        Repeated calls are cheap and bring a dead server back. A forked child shares its parent's attachment:
        the server stays up until both have detached or ended. Raises EmbeddedPostgresError.
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
        """Whether this process is attached and the supervisor calls the server ready: a look at two files."""
        with self._attachment.guard, explain_os_errors(self._folder):
            supervisor = self._folder.supervisor() if self._attachment.is_held(self._folder) else None
            return supervisor is not None and supervisor[1] == READY

    def detach(self, *, wait: bool = False) -> None:
        """This process needs the server no longer.

        With `wait` an otherwise unused server stops at once, and this returns when it and its supervisor are
        gone, or when others turn out to use it. Raises EmbeddedPostgresError.
        """
        with self._attachment.guard, explain_os_errors(self._folder):
            self._attachment.release()
            if wait:
                self._wait_until_gone(Deadline(self._folder))

    def is_running(self) -> bool:
        """Whether the server accepts sign-ins now."""
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
        """Ask for a stop as soon as nobody is attached, and wait for the supervisor's end or another user."""
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
