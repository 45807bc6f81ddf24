"""Many processes share one embedded PostgreSQL, come and go."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres
from config.postgres.launch import SUPERVISOR
from config.postgres.processes import command_line
from tests.faults.client import REPOSITORY, Client
from tests.faults.processes import postmaster_pid, processes, until
from tests.faults.sessions import execute, rows_are_kept, sign_in

pytestmark = [pytest.mark.deep, pytest.mark.faults]


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


def test_attaching_again_changes_nothing(data: Path, server: EmbeddedPostgres) -> None:
    def lasting() -> tuple[int, list[int]]:
        """Without PostgreSQL's own children, which come and go."""
        return postmaster_pid(data), [pid for pid in processes(data) if SUPERVISOR in command_line(pid)]

    before = lasting()
    for _ in range(20):
        EmbeddedPostgres(data).attach()
    assert lasting() == before
    server.detach(wait=True)
    assert not processes(data)


def test_concurrent_first_starts_make_one_server(data: Path) -> None:
    clients = [Client(data) for _ in range(3)]
    try:
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda client: client.tell("attach"), clients))
        assert len([pid for pid in processes(data) if SUPERVISOR in command_line(pid)]) == 1
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
from config.postgres.embedded import EmbeddedPostgres
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
