"""The embedded PostgreSQL survives kills of any of its processes, and lost files."""

import contextlib
import os
import shutil
import signal
import threading
from pathlib import Path

import psycopg
import pytest

from config.postgres.embedded import EmbeddedPostgres
from config.postgres.processes import command_line
from tests.faults.processes import crash, kill, kill_supervisor, postmaster_pid, processes, supervisor_pid, until
from tests.faults.sessions import execute, rows_are_kept, sign_in

pytestmark = pytest.mark.faults


@pytest.mark.deep
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


@pytest.mark.deep
def test_server_without_supervisor_is_stopped_all_the_same(data: Path, server: EmbeddedPostgres) -> None:
    kill_supervisor(data)
    server.detach(wait=True)
    assert not processes(data)


@pytest.mark.deep
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


@pytest.mark.deep
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


@pytest.mark.deep
def test_deleted_data_folder_ends_the_server_and_the_next_one_is_new(data: Path, server: EmbeddedPostgres) -> None:
    old = processes(data)
    shutil.rmtree(data)
    until(lambda: not any(command_line(pid) for pid in old))
    server.attach()
    with pytest.raises(psycopg.errors.UndefinedTable):
        rows_are_kept(server)
