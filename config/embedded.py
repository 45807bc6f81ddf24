"""The embedded PostgreSQL as its users see it: where it is, how to sign in, how to keep it up while needed.

Two locks of the kernel's decide everything, so a process killed at any moment leaves nothing to clean up:

- `postgres.clients`: whoever needs the server holds it shared; the supervisor takes it for itself alone
  before it stops the server;
- `postgres.supervisor`: the one supervisor (`config/supervisor.py`) of the data folder holds it, and writes
  its pid and its status into it.

A client that holds the first and finds the second free starts a supervisor, and waits until that is ready.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import secrets
import selectors
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from psycopg import pq
from psycopg.conninfo import make_conninfo

ADMIN = "dossier_admin"
DATABASE = "dossier"
PORT = "5432"
ROLES: dict[str, str] = {"app": "dossier_app", "owner": "dossier_owner"}

STARTING, READY, STOPPING = "starting", "ready", "stopping"

POLL_SECONDS = 0.02
ATTACH_LIMIT_SECONDS = 660.0  # recovery may take minutes; nothing is killed when this has passed
PROBES_BEFORE_SHARED = 10  # others hold the clients lock for good when so many tries in a row have failed
SOCKET_FOLDER_BYTES = 85  # sun_path has 104 bytes on macOS and 108 on Linux, "/.s.PGSQL.5432" takes 15


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message says what to do and ends with the log's path."""


@dataclasses.dataclass(frozen=True)
class DataFolder:
    """Where things are in one data folder, and its secrets."""

    path: Path

    @property
    def cluster(self) -> Path:
        return self.path / "postgres"

    @property
    def clients_lock(self) -> Path:
        return self.path / "postgres.clients"

    @property
    def supervisor_lock(self) -> Path:
        return self.path / "postgres.supervisor"

    @property
    def postgres_log(self) -> Path:
        return self.path / "log" / "postgres.log"

    @property
    def supervisor_log(self) -> Path:
        return self.path / "log" / "supervisor.log"

    @property
    def name(self) -> str:
        """`dossier-` and 16 hexadecimal digits: tells this folder's server from all others."""
        return "dossier-" + hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]

    @property
    def socket_folder(self) -> Path:
        """The same for every process: `run` in the data folder, or one in /tmp when that is too long."""
        inside = self.path / "run"
        if len(os.fsencode(inside)) <= SOCKET_FOLDER_BYTES:
            return inside
        # Not tempfile.gettempdir(): TMPDIR may differ between the processes that share one server.
        prefix, _, digest = self.name.partition("-")
        return Path("/tmp") / f"{prefix}-{self.path.stat().st_uid}-{digest}"  # noqa: S108 - owner and mode are checked

    def prepare(self) -> None:
        """Make the folders that belong to us alone. Raises OSError."""
        self.path.mkdir(parents=True, exist_ok=True)
        for private in (self.path / "secrets", self.path / "log"):
            private.mkdir(mode=0o700, exist_ok=True)
            if stat.S_IMODE(private.stat().st_mode) != 0o700:  # noqa: PLR2004
                private.chmod(0o700)

    def password(self, role: str) -> str:
        """The role's password, made up when it is first asked for. Raises OSError."""
        file = self.path / "secrets" / role
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if not file.exists() or not file.read_text().strip():
                write_durably(file, secrets.token_urlsafe(32))
                os.fsync(folder)
            return file.read_text().strip()
        finally:
            os.close(folder)

    def conninfo(self, user: str, database: str, **options: str) -> str:
        """A libpq connection string for the socket, without password unless one is among the options."""
        return make_conninfo(
            host=str(self.socket_folder),
            port=PORT,
            user=user,
            dbname=database,
            connect_timeout=5,
            **options,
        )

    def ping(self) -> pq.Ping:
        """Whether a server takes sign-ins at the socket; REJECT while it starts, recovers or stops."""
        return pq.Ping(pq.PGconn.ping(self.conninfo(ADMIN, "postgres").encode()))

    def supervisor(self) -> tuple[int, str] | None:
        """Pid (0 when not yet written) and status of the lock's holder; None when nobody holds it."""
        try:
            descriptor = os.open(self.supervisor_lock, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            if lock(descriptor, fcntl.LOCK_SH):
                return None
            pid, _, status = os.pread(descriptor, 100, 0).decode(errors="replace").strip().partition(" ")
            return (int(pid) if pid.isdecimal() else 0), status
        finally:
            os.close(descriptor)


def write_durably(file: Path, text: str) -> None:
    """Write a private file that is there completely or not at all, whenever we are killed."""
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.rename(file)


def lock(descriptor: int, how: int) -> bool:
    """Take the lock if nobody is in the way; never waits."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def is_at(descriptor: int, file: Path) -> bool:
    """Whether the open file is the one that the path leads to now."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False


def command_line(pid: int) -> str:
    """A process's arguments, separated by NUL (by blanks without /proc); "" for a zombie or no process."""
    if Path("/proc/self/cmdline").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape")
        except OSError:
            return ""
    listed = subprocess.run(["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, check=False)
    return listed.stdout.decode(errors="surrogateescape").rstrip("\n")


@contextlib.contextmanager
def explained(folder: DataFolder) -> Iterator[None]:
    """Turn an OSError about the data folder into a sentence that tells what to do."""
    try:
        yield
    except OSError as error:
        raise EmbeddedPostgresError(
            f"The data folder {folder.path} cannot be used ({error}). Free some space or make it writable "
            "for this user, or set DOSSIER_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL of "
            "your own. "
            f"Log: {folder.supervisor_log}"
        ) from error


class Attachment:
    """This process's share of one folder's clients lock, however many objects ask for it."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.descriptor: int | None = None

    def release(self) -> None:
        # Closed, never unlocked: an unlock would end the share of a parent or child with the same descriptor.
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


_ATTACHMENTS: dict[Path, Attachment] = {}


def _renew_guards() -> None:
    """In a forked child: a thread of the parent that held a guard is not here to release it."""
    for attachment in _ATTACHMENTS.values():
        attachment.guard = threading.RLock()


os.register_at_fork(after_in_child=_renew_guards)


class EmbeddedPostgres:
    """The PostgreSQL server of one data folder, shared by all processes that attach to it."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = DataFolder(Path(data_dir).resolve())
        self._attachment = _ATTACHMENTS.setdefault(self._folder.path, Attachment())

    def connection(self, role: Literal["app", "owner"], database: str = DATABASE) -> dict[str, str]:
        """Django's HOST, PORT, NAME, USER and PASSWORD; the server need not run and is not started.

        Raises EmbeddedPostgresError when the data folder cannot be written.
        """
        user = ROLES[role]
        with explained(self._folder):
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
        with self._attachment.guard, explained(self._folder):
            was_registered = self._attachment.descriptor is not None
            try:
                self._wait_until_served(time.monotonic() + ATTACH_LIMIT_SECONDS)
            except BaseException:
                if not was_registered:
                    self._attachment.release()
                raise

    def detach(self, *, wait: bool = False) -> None:
        """This process needs the server no longer.

        With `wait` an otherwise unused server stops at once, and this returns when it and its supervisor are
        gone, or when others turn out to use it. Raises EmbeddedPostgresError.
        """
        with self._attachment.guard, explained(self._folder):
            self._attachment.release()
            if wait:
                self._wait_until_gone()

    def is_running(self) -> bool:
        """Whether the server accepts sign-ins now."""
        with explained(self._folder):
            return self._folder.path.is_dir() and self._folder.ping() == pq.Ping.OK

    def _wait_until_served(self, deadline: float) -> None:
        self._register(deadline)
        while not self._is_served():
            if self._folder.supervisor() is None:
                self._start_supervisor(deadline)
            else:
                self._pause(deadline)

    def _is_served(self) -> bool:
        supervisor = self._folder.supervisor()
        return supervisor is not None and supervisor[1] == READY and self._folder.ping() == pq.Ping.OK

    def _register(self, deadline: float) -> None:
        if self._attachment.descriptor is not None:
            if is_at(self._attachment.descriptor, self._folder.clients_lock):
                return
            self._attachment.release()  # the data folder was deleted meanwhile, and our share with it
        self._folder.prepare()
        descriptor = open_lock(self._folder.clients_lock)
        try:
            while not lock(descriptor, fcntl.LOCK_SH):  # a supervisor is just stopping the server
                self._pause(deadline)
        except BaseException:
            os.close(descriptor)
            raise
        self._attachment.descriptor = descriptor

    def _start_supervisor(self, deadline: float) -> None:
        """Start one, and wait until it is ready, has failed or has left the field to another."""
        with (
            self._folder.supervisor_log.open("ab") as log,
            subprocess.Popen(
                [sys.executable, "-m", "config.supervisor", str(self._folder.path)],
                cwd=Path(__file__).resolve().parent.parent,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            ) as process,
        ):
            assert process.stdout is not None  # noqa: S101 - for the type checker
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise self._too_late()
            complaint = process.stdout.read().decode(errors="replace").strip()
        if not complaint and process.returncode:
            complaint = f"The supervisor ended with code {process.returncode}. Log: {self._folder.supervisor_log}"
        if complaint:
            raise EmbeddedPostgresError(complaint)

    def _wait_until_gone(self) -> None:
        """Ask for a stop as soon as nobody is attached, and wait for the supervisor's end or another user."""
        pid, failures = 0, 0
        deadline = time.monotonic() + ATTACH_LIMIT_SECONDS
        while (supervisor := self._folder.supervisor()) is not None or self.is_running():
            pid, status = supervisor or (0, "")
            if self._nobody_attached():
                failures = 0
                # A server that has lost its supervisor gets a new one, which knows how to stop it.
                self._ask_to_stop(pid) if supervisor else self._start_supervisor(deadline)
            elif status != STOPPING:
                failures += 1
            if failures >= PROBES_BEFORE_SHARED:
                return
            self._pause(deadline)
        while self._is_supervisor(pid):  # its locks go a moment before it does
            self._pause(deadline)

    def _nobody_attached(self) -> bool:
        descriptor = open_lock(self._folder.clients_lock)
        try:
            return lock(descriptor, fcntl.LOCK_EX)
        finally:
            os.close(descriptor)

    def _ask_to_stop(self, pid: int) -> None:
        # The pid is the lock holder's word, but that may be an initdb that has outlived its supervisor.
        if self._is_supervisor(pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _is_supervisor(self, pid: int) -> bool:
        command = command_line(pid) if pid else ""
        return "config.supervisor" in command and str(self._folder.path) in command

    def _pause(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            raise self._too_late()
        time.sleep(POLL_SECONDS)

    def _too_late(self) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(
            f"PostgreSQL is not ready after {ATTACH_LIMIT_SECONDS:.0f} s, but it is still at work; try again "
            f"in a while, or look for the reason. Log: {self._folder.postgres_log}"
        )
