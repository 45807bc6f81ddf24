"""The real servers of an installation on several machines, as Debian packages them: PgBouncer, Redis, RabbitMQ.

Each runs on 127.0.0.1 at a free port, with a folder of its own; both are gone after the block. Where a program
is missing, the test is skipped; in continuous integration, it fails.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.faults.processes import until

SYSTEM_FOLDERS = "/usr/lib/rabbitmq/bin:/usr/sbin"  # the first has the program that /usr/sbin/rabbitmq-server wraps
START_SECONDS = 90.0
POOL_SIZE = 4
"""Sessions that PgBouncer opens for one database: far fewer than the application's own pools may hold."""


def find_program(name: str) -> str | None:
    """Return the path of the program; None if there is none."""
    return shutil.which(name, path=f"{SYSTEM_FOLDERS}:{os.environ['PATH']}")


def require_program(name: str) -> None:
    """End the run with an error if there is no such program: whoever asks for a run with it wants no run without it."""
    if find_program(name) is None:
        raise pytest.UsageError(f"There is no {name} on this machine. Install Debian's package.")


def program(name: str) -> str:
    """Return the path of the program. Skips the test without one; in continuous integration, it fails."""
    found = find_program(name)
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"There is no {name} on this machine.")
    return found


def free_port() -> int:
    """Return a port of this machine on which nothing listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def pgbouncer(database: Mapping[str, str]) -> Iterator[int]:
    """Yield the port of a PgBouncer in transaction mode before the server of this database, in Django's words.

    Whoever connects is the role of `database`, in the database that they name. The process runs as the owner of the
    server's socket, because it does not run as root.
    """
    command, port = program("pgbouncer"), free_port()
    with _folder() as folder:
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            f"""
[databases]
* = host={database["HOST"]} port={database["PORT"]} user={database["USER"]} password={database["PASSWORD"]}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {POOL_SIZE}
max_client_conn = 500
server_idle_timeout = 5
ignore_startup_parameters = extra_float_digits
"""
        )
        account = pwd.getpwuid(Path(database["HOST"]).stat().st_uid)
        Path(database["HOST"]).parent.chmod(0o711)  # a temporary folder, which is closed to that account
        shutil.chown(folder, account.pw_uid)
        shutil.chown(settings, account.pw_uid)
        user = account.pw_name if os.geteuid() == 0 else None
        with _running([command, "-q", str(settings)], folder, lambda: _listens(port), user=user):
            yield port


@contextmanager
def redis() -> Iterator[str]:
    """Yield the address of a Redis that keeps nothing on the disk."""
    command, port = program("redis-server"), free_port()
    with _folder() as folder:
        options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)]
        with _running([command, *options], folder, lambda: _listens(port)):
            yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def rabbitmq() -> Iterator[str]:
    """Yield the address of a RabbitMQ. Its node has a name, ports and an Erlang port mapper of its own."""
    command, port, mapper = program("rabbitmq-server"), free_port(), free_port()
    with _folder() as folder:
        environment = {
            "HOME": str(folder),  # of Erlang's cookie
            "RABBITMQ_NODENAME": f"dossier{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",  # threads do not spin
            "ERL_EPMD_PORT": str(mapper),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }
        try:
            with _running([command], folder, lambda: _listens(port), environment=environment):
                yield f"amqp://guest:guest@127.0.0.1:{port}//"
        finally:
            subprocess.run([program("epmd"), "-port", str(mapper), "-kill"], capture_output=True, check=False)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="dossier-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(
    command: list[str],
    folder: Path,
    answers: Callable[[], bool],
    *,
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
) -> Iterator[None]:
    """Run the command, with all the processes that it starts, while the block runs."""
    with (folder / "output").open("w+b") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | (environment or {}),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=user,
        )
        try:
            until(lambda: process.poll() is not None or answers(), seconds=START_SECONDS)
            if process.poll() is not None:
                output.seek(0)
                pytest.fail(f"{command[0]} ended by itself: {output.read().decode(errors='replace')}")
            yield
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, name)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            continue
    process.wait(timeout=20)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def sessions_on(port: int, database: str) -> int:
    """Return the number of sessions that PgBouncer holds open to the database."""
    with psycopg.connect(host="127.0.0.1", port=port, dbname="pgbouncer", user="pgbouncer", autocommit=True) as console:
        console.prepare_threshold = None
        rows = psycopg.ClientCursor(console).execute("SHOW SERVERS").fetchall()
    return sum(database in map(str, row) for row in rows)
