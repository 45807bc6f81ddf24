"""The data folder has a layout, secrets, and locks that end with the processes that hold them."""

import dataclasses
import fcntl
import hashlib
import os
import secrets
import stat
from pathlib import Path

from psycopg import pq
from psycopg.conninfo import make_conninfo


def open_lock(file: Path) -> int:
    """Return a file descriptor to lock; children do not inherit it. Raises OSError."""
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def lock(descriptor: int, how: int) -> bool:
    """Take the lock if it is free, without waiting. Return whether it was taken."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_at(descriptor: int, file: Path) -> bool:
    """Return whether the open file is the one at the path now."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False


ADMIN = "dossier_admin"
DATABASE = "dossier"
PORT = "5432"
ROLES: dict[str, str] = {"app": "dossier_app", "owner": "dossier_owner"}

STARTING, READY, STOPPING = "starting", "ready", "stopping"

SOCKET_FOLDER_BYTES = 85  # sun_path has 104 bytes on macOS and 108 on Linux, "/.s.PGSQL.5432" takes 15


@dataclasses.dataclass(frozen=True)
class DataFolder:
    """The layout of a data folder, and its secrets."""

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
        """The name of the folder's server: `dossier-` and 16 hexadecimal digits."""
        return "dossier-" + hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]

    @property
    def socket_folder(self) -> Path:
        """The folder of the socket, the same for every process: `run` in the data folder, or one in /tmp if that path
        is too long.
        """
        inside = self.path / "run"
        if len(os.fsencode(inside)) <= SOCKET_FOLDER_BYTES:
            return inside
        # Not tempfile.gettempdir(): TMPDIR may differ between the processes that share one server.
        prefix, _, digest = self.name.partition("-")
        return Path("/tmp") / f"{prefix}-{self.path.stat().st_uid}-{digest}"  # noqa: S108 - owner and mode are checked

    def prepare(self) -> None:
        """Create the private folders. Raises OSError."""
        self.path.mkdir(parents=True, exist_ok=True)
        for private in (self.path / "secrets", self.path / "log"):
            private.mkdir(mode=0o700, exist_ok=True)
            if stat.S_IMODE(private.stat().st_mode) != 0o700:  # noqa: PLR2004
                private.chmod(0o700)

    def password(self, role: str) -> str:
        """Return the role's password, which is generated at the first call. Raises OSError."""
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
        """Return a libpq connection string for the socket, without a password unless it is among the options."""
        return make_conninfo(
            host=str(self.socket_folder),
            port=PORT,
            user=user,
            dbname=database,
            connect_timeout=5,
            **options,
        )

    def ping(self) -> pq.Ping:
        """Return whether a server accepts connections at the socket; REJECT while it starts, recovers or stops."""
        return pq.Ping(pq.PGconn.ping(self.conninfo(ADMIN, "postgres").encode()))

    def supervisor(self) -> tuple[int, str] | None:
        """Return the pid (0 if not yet written) and the status of the supervisor; None if there is none."""
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
    """Write a private file so that it is there completely or not at all, even if the process is killed."""
    unfinished = file.with_name(file.name + ".unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.rename(file)
