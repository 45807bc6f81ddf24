"""The embedded PostgreSQL survives what people and machines do to it: kills, leftovers, hurry, odd folders.

Every test has a data folder and a server of its own, and leaves no process behind.
"""

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest

from config.embedded import ROLES, DataFolder, EmbeddedPostgres, EmbeddedPostgresError, command_line

pytestmark = pytest.mark.faults

REPOSITORY = Path(__file__).resolve().parent.parent.parent
CLIENT = """
import sys
from pathlib import Path
from config.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]))
for line in sys.stdin:
    getattr(server, line.strip())()
    print("done", flush=True)
"""


class Client:
    """Another process that attaches, detaches and dies as told."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(data)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, what: Literal["attach", "detach"]) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def leave(self) -> None:
        with self.process:  # closes its input, at whose end it exits
            pass


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose server and supervisor are gone after the test."""
    folder = tmp_path / "var"
    yield folder
    EmbeddedPostgres(folder).detach(wait=True)
    left = processes(folder)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not left
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped data folder with one committed row, to be copied."""
    folder = tmp_path_factory.mktemp("original") / "var"
    server = EmbeddedPostgres(folder)
    server.attach()
    execute(server, "CREATE TABLE kept AS SELECT 1 AS value")
    server.detach(wait=True)
    return folder


@pytest.fixture
def server(data: Path, original: Path) -> EmbeddedPostgres:
    """A running server with one committed row."""
    subprocess.run(["/bin/cp", "-a", str(original), str(data)], check=True)
    server = EmbeddedPostgres(data)
    server.attach()
    return server


@pytest.fixture(scope="module")
def quiet_server(original: Path) -> Iterator[EmbeddedPostgres]:
    """A running server for the tests that do it no harm."""
    server = EmbeddedPostgres(original)
    server.attach()
    yield server
    server.detach(wait=True)
    assert not processes(original)


@pytest.fixture
def another(data: Path) -> Iterator[Callable[[], Client]]:
    """Makes attached client processes, which do not outlive the test."""
    clients: list[Client] = []

    def start() -> Client:
        clients.append(Client(data))
        clients[-1].tell("attach")
        return clients[-1]

    yield start
    for client in clients:
        client.kill()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with us and must survive."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"]) as process:
        yield process
        survived = process.poll() is None
        process.kill()
    assert survived


def execute(server: EmbeddedPostgres, query: str, role: Literal["app", "owner"] = "owner") -> list[Any]:
    with sign_in(server, role) as session:
        cursor = session.execute(query.encode())
        return cursor.fetchall() if cursor.description else []


def sign_in(
    server: EmbeddedPostgres, role: Literal["app", "owner"] = "owner", **changed: str
) -> psycopg.Connection[Any]:
    facts = server.connection(role) | changed
    return psycopg.connect(
        host=facts["HOST"],
        port=facts["PORT"],
        dbname=facts["NAME"],
        user=facts["USER"],
        password=facts["PASSWORD"],
    )


def rows_are_kept(server: EmbeddedPostgres) -> bool:
    return execute(server, "SELECT value FROM kept") == [(1,)]


def processes(data: Path) -> list[int]:
    """Supervisors, postmasters and backends of the folder."""
    folder = DataFolder(data.resolve())
    ours = re.compile(rf"config\.supervisor\0{re.escape(str(data))}\0|cluster_name={folder.name}|: {folder.name}: ")
    return [
        int(process.name) for process in Path("/proc").glob("[0-9]*") if ours.search(command_line(int(process.name)))
    ]


def supervisor_pid(data: Path) -> int:
    found = DataFolder(data.resolve()).supervisor()
    assert found is not None
    return found[0]


def postmaster_pid(data: Path) -> int:
    return int((data / "postgres" / "postmaster.pid").read_text().split()[0])


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not any(command_line(pid) for pid in pids))


def until(happened: Callable[[], bool], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kill_supervisor(data: Path) -> None:
    """Its locks outlive its arguments in /proc by a moment."""
    kill(supervisor_pid(data))
    until(lambda: DataFolder(data.resolve()).supervisor() is None)


def crash(data: Path) -> None:
    """Kill everything of the server at once."""
    kill(*processes(data))
    until(lambda: not processes(data))


# Sharing


def test_two_processes_share_one_server(data: Path, server: EmbeddedPostgres, another: Callable[[], Client]) -> None:
    first = postmaster_pid(data)
    other = another()
    server.detach(wait=True)
    assert server.is_running()
    other.tell("detach")
    other.tell("attach")
    assert postmaster_pid(data) == first
    assert rows_are_kept(server)


def test_killed_client_does_not_disturb_the_others(server: EmbeddedPostgres, another: Callable[[], Client]) -> None:
    other = another()
    with sign_in(server) as session:
        other.kill()
        assert session.execute("SELECT value FROM kept").fetchall() == [(1,)]


def test_server_stops_soon_after_its_last_client_exits_or_dies(data: Path, another: Callable[[], Client]) -> None:
    killed, leaving = another(), another()
    leaving.leave()
    killed.kill()
    assert EmbeddedPostgres(data).is_running()
    until(lambda: not processes(data), seconds=10)
    assert not EmbeddedPostgres(data).is_running()


def test_waiting_for_the_end_leaves_no_process(data: Path, server: EmbeddedPostgres) -> None:
    with sign_in(server):
        server.detach(wait=True)
    assert not processes(data)
    assert not server.is_running()
    server.detach(wait=True)


def test_attaching_again_is_cheap_and_changes_nothing(data: Path, server: EmbeddedPostgres) -> None:
    before = processes(data)
    started = time.perf_counter()
    for _ in range(20):
        EmbeddedPostgres(data).attach()
    assert (time.perf_counter() - started) / 20 < 0.1
    assert processes(data) == before
    server.detach(wait=True)
    assert not processes(data)


def test_concurrent_first_starts_make_one_server(data: Path) -> None:
    clients = [Client(data) for _ in range(3)]
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda client: client.tell("attach"), clients))
        assert len([pid for pid in processes(data) if "config.supervisor" in command_line(pid)]) == 1
        assert execute(EmbeddedPostgres(data), "SELECT 1", "app") == [(1,)]
    finally:
        for client in clients:
            client.kill()


def test_threads_attach_at_once(data: Path) -> None:
    server = EmbeddedPostgres(data)
    threads = [threading.Thread(target=server.attach) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.is_running()


def test_coming_and_going_never_meets_a_stopping_server(data: Path, server: EmbeddedPostgres) -> None:
    def come_and_go(_: int) -> None:
        client = Client(data)
        try:
            for _ in range(3):
                client.tell("attach")
                assert rows_are_kept(server)
                client.tell("detach")
                EmbeddedPostgres(data).detach(wait=True)
        finally:
            client.leave()

    server.detach()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(come_and_go, range(2)))


def test_forked_child_shares_the_attachment(data: Path, server: EmbeddedPostgres) -> None:
    program = f"""
import os, sys, time
from pathlib import Path
from config.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path({str(data)!r}))
server.attach()
if os.fork() == 0:
    server.attach()
    server.detach(wait=True)
    os._exit(0)
os.wait()
assert server.is_running()
print("child gone", flush=True)
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
print("parent gone", flush=True)
os._exit(0)
"""
    server.detach()
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"child gone\n"
        assert parent.stdout.readline() == b"parent gone\n"
        time.sleep(4)  # longer than the grace period: what keeps the server is the child that still runs
        assert server.is_running()
    until(lambda: not processes(data), seconds=10)


# Kills


def test_killed_supervisor_is_replaced_by_one_that_adopts_the_server(data: Path, server: EmbeddedPostgres) -> None:
    postmaster, old = postmaster_pid(data), supervisor_pid(data)
    with sign_in(server) as session:
        kill_supervisor(data)
        assert session.execute("SELECT value FROM kept").fetchall() == [(1,)]
        server.attach()
        assert session.execute("SELECT value FROM kept").fetchall() == [(1,)]
    assert postmaster_pid(data) == postmaster
    assert supervisor_pid(data) != old
    server.detach(wait=True)
    assert not processes(data)


def test_server_without_supervisor_is_stopped_all_the_same(data: Path, server: EmbeddedPostgres) -> None:
    kill_supervisor(data)
    server.detach(wait=True)
    assert not processes(data)


def test_killed_postmaster_is_started_again_by_itself(data: Path, server: EmbeddedPostgres) -> None:
    killed = postmaster_pid(data)
    with contextlib.suppress(psycopg.OperationalError), sign_in(server) as session:
        kill(killed)
        session.execute("SELECT pg_sleep(0.1)")
    until(lambda: server.is_running() and postmaster_pid(data) != killed)
    server.attach()
    assert rows_are_kept(server)


def test_killed_postmaster_is_back_when_attach_returns(data: Path, server: EmbeddedPostgres) -> None:
    kill(postmaster_pid(data))
    server.attach()
    assert rows_are_kept(server)


def test_orphaned_backends_are_waited_for(data: Path, server: EmbeddedPostgres) -> None:
    session = sign_in(server)
    busy = session.info.backend_pid
    os.kill(busy, signal.SIGSTOP)  # it cannot notice that its postmaster is gone
    kill_supervisor(data)
    kill(postmaster_pid(data))
    freed = threading.Timer(1.0, os.kill, (busy, signal.SIGCONT))
    freed.start()
    server.attach()
    freed.join()
    assert rows_are_kept(server)
    session.close()


def test_everything_killed_loses_no_committed_row(data: Path, server: EmbeddedPostgres) -> None:
    execute(server, "INSERT INTO kept SELECT 2 FROM generate_series(1, 1000)")
    crash(data)
    server.attach()
    assert execute(server, "SELECT count(*) FROM kept") == [(1001,)]


def test_lost_socket_is_made_again(data: Path, server: EmbeddedPostgres) -> None:
    (Path(server.connection("owner")["HOST"]) / ".s.PGSQL.5432").unlink()
    server.attach()
    assert rows_are_kept(server)


def test_deleted_data_folder_ends_the_server_and_the_next_one_is_new(data: Path, server: EmbeddedPostgres) -> None:
    old = processes(data)
    shutil.rmtree(data)
    until(lambda: not any(command_line(pid) for pid in old))
    server.attach()
    with pytest.raises(psycopg.errors.UndefinedTable):
        rows_are_kept(server)


# Leftovers


def test_leftover_pid_files_neither_stop_a_start_nor_hit_a_bystander(
    data: Path, server: EmbeddedPostgres, bystander: subprocess.Popen[bytes]
) -> None:
    file = data / "postgres" / "postmaster.pid"
    socket_lock = data / "run" / ".s.PGSQL.5432.lock"
    for leftover in ("", "{stale_half}", "\0\0\0\0", "rubbish\n", "99999999\n/nowhere\n", "{bystander}\n{rest}"):
        stale, _, rest = file.read_text().partition("\n")
        crash(data)
        file.write_text(leftover.format(stale_half=stale[:-1], bystander=bystander.pid, rest=rest))
        socket_lock.write_text(f"{bystander.pid}\n{rest}")
        server.attach()
        assert rows_are_kept(server)
        assert bystander.poll() is None


@pytest.mark.parametrize("moment", [0.05, 0.5])
def test_interrupted_first_start_leaves_nothing_that_cannot_start(data: Path, moment: float) -> None:
    client = Client(data)
    assert client.process.stdin is not None
    client.process.stdin.write("attach\n")
    client.process.stdin.flush()
    until(lambda: any(data.glob("postgres.new-*")))
    time.sleep(moment)
    kill(*processes(data), *initdb_processes(data))
    client.kill()
    server = EmbeddedPostgres(data)
    server.attach()
    assert execute(server, "SELECT count(*) FROM pg_extension WHERE extname = 'vector'") == [(1,)]
    assert not list(data.glob("postgres.new-*"))


def initdb_processes(data: Path) -> list[int]:
    found = [int(process.name) for process in Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if f"{data}/postgres.new-" in command_line(pid)]


def test_lost_passwords_are_set_anew(data: Path, server: EmbeddedPostgres) -> None:
    for lost in (["dossier_admin"], ["dossier_app", "dossier_owner"]):
        server.detach(wait=True)
        for role in lost:
            (data / "secrets" / role).unlink()
        server.attach()
        assert execute(server, "SELECT 1", "app") == [(1,)]
        assert rows_are_kept(server)


# Folders and rights


def test_very_long_data_folder_gets_a_short_socket_folder(tmp_path: Path) -> None:
    data = tmp_path / ("a long name " * 8) / ("and, \"odd\" 'quotes' " * 5) / "var"
    server = EmbeddedPostgres(data)
    host = Path(server.connection("app")["HOST"])
    server.attach()
    assert len(os.fsencode(host)) < 90
    assert stat.S_IMODE(host.stat().st_mode) == 0o700
    assert execute(server, "SELECT 1", "app") == [(1,)]
    server.detach(wait=True)
    assert not processes(data)
    assert not host.exists()


def test_planted_socket_folder_is_refused(tmp_path: Path) -> None:
    data = tmp_path / ("long " * 20) / "var"
    server = EmbeddedPostgres(data)
    host = Path(server.connection("app")["HOST"])
    host.symlink_to(tmp_path)
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"made by somebody else.*Log: .*postgres\.log$"):
            server.attach()
        assert not processes(data)
    finally:
        host.unlink()


def test_folders_are_private(original: Path, quiet_server: EmbeddedPostgres) -> None:
    for private in ("postgres", "secrets", "log", "run"):
        assert stat.S_IMODE((original / private).stat().st_mode) == 0o700
    secrets = list((original / "secrets").iterdir())
    assert {secret.name for secret in secrets} == {"dossier_admin", *ROLES.values()}
    assert {stat.S_IMODE(secret.stat().st_mode) for secret in secrets} == {0o600}


def test_passwords_are_in_no_log_and_in_no_argument(original: Path, quiet_server: EmbeddedPostgres) -> None:
    logs = "".join(log.read_text() for log in (original / "log").iterdir())
    arguments = "".join(command_line(pid) for pid in processes(original))
    for secret in (original / "secrets").iterdir():
        assert secret.read_text() not in logs + arguments


def test_app_role_makes_nothing_and_owns_nothing(quiet_server: EmbeddedPostgres) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "CREATE TABLE mine (value int)", "app")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "SELECT value FROM kept", "app")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(quiet_server, "CREATE ROLE friend", "app")


def test_owner_makes_databases_that_have_vectors(quiet_server: EmbeddedPostgres) -> None:
    with sign_in(quiet_server) as session:
        session.autocommit = True
        session.execute("CREATE DATABASE later")
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
    with sign_in(quiet_server, NAME="later") as session:
        assert session.execute("SELECT '[1,2]'::vector <-> '[1,2]'").fetchone() == (0.0,)


def test_server_is_durable_checksummed_and_hidden_from_the_network(quiet_server: EmbeddedPostgres) -> None:
    facts = {
        "fsync": "on",
        "synchronous_commit": "on",
        "data_checksums": "on",
        "listen_addresses": "",
        "TimeZone": "UTC",
        "server_encoding": "UTF8",
    }
    for name, value in facts.items():
        assert execute(quiet_server, f"SHOW {name}") == [(value,)]


def test_wrong_password_is_refused(quiet_server: EmbeddedPostgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        sign_in(quiet_server, PASSWORD="guess").close()


def test_unusable_data_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    server = EmbeddedPostgres(tmp_path / "file" / "var")
    with pytest.raises(EmbeddedPostgresError, match=r"DOSSIER_DATA_DIR.*Log: .*\.log$"):
        server.attach()
    with pytest.raises(EmbeddedPostgresError, match="DOSSIER_DATA_DIR"):
        server.connection("app")


def test_folder_that_holds_something_else_is_explained_and_left_alone(data: Path) -> None:
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "letter.txt").write_text("dear")
    with pytest.raises(EmbeddedPostgresError, match="not a PostgreSQL cluster"):
        EmbeddedPostgres(data).attach()
    assert (data / "postgres" / "letter.txt").read_text() == "dear"


def test_older_cluster_is_explained(data: Path, server: EmbeddedPostgres) -> None:
    server.detach(wait=True)
    (data / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedPostgresError, match=r"PostgreSQL 17.*Log: "):
        server.attach()


def test_broken_server_is_explained(data: Path, server: EmbeddedPostgres) -> None:
    server.detach(wait=True)
    (data / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedPostgresError, match=r"does not start: .*pg_control.*Log: .*postgres\.log$"):
        server.attach()
    assert not processes(data)
