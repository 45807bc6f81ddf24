"""The heavy process of a server: it computes what is costly, is replaced when it dies, and ends with the server."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from agents.keys import api_key_create
from config.postgres.processes import command_line
from tests.faults.processes import kill, until
from tests.faults.test_web_processes import Server, seconds_of

pytestmark = [
    pytest.mark.deep,
    pytest.mark.faults,
    pytest.mark.usefixtures("committed_database"),
    pytest.mark.finding("3b"),
]

TEXT = "A sentence about lighthouses and the sea. " * 1_500


class HeavyServer(Server):
    """A running `serve`, and a key to ask it with."""

    def __init__(self, folder: Path) -> None:
        _, self.key = api_key_create(agent=None)
        super().__init__(folder)

    def heavy(self) -> list[int]:
        return [pid for pid in self.family() if "\0heavy\0" in command_line(pid)]

    def compress(self) -> httpx.Response:
        body = {"content": TEXT, "max_tokens": 100}
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.post(f"{self.address}/api/v1/compress", json=body, headers=headers, timeout=60)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeavyServer]:
    """One that answers; all of it is gone afterwards."""
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)  # under which the test makes its key
    server = HeavyServer(tmp_path)
    until(lambda: len(server.web()) == 2 and server.answers() and len(server.heavy()) == 1, seconds=60)
    yield server
    if server.process.returncode is None:
        server.kill()
    assert server.is_gone()


def test_it_computes_what_is_costly(server: HeavyServer) -> None:
    assert server.compress().status_code == 200  # it is there from now on
    (heavy,) = server.heavy()
    before, web_before = seconds_of(heavy), sum(map(seconds_of, server.web()))
    assert [server.compress().status_code for _ in range(10)] == [200] * 10
    assert seconds_of(heavy) - before > sum(map(seconds_of, server.web())) - web_before
    assert os.getpriority(os.PRIO_PROCESS, heavy) > os.getpriority(os.PRIO_PROCESS, server.web()[0])
    assert server.stop() == ""
    assert server.process.returncode == 0


def test_one_that_dies_is_replaced_while_light_requests_go_on(server: HeavyServer) -> None:
    assert server.compress().status_code == 200
    (first,) = server.heavy()
    kill(first)
    assert all(server.answers() for _ in range(4))
    assert server.compress().status_code == 200, "it waits until another one is there"
    assert first not in server.heavy()
    assert "the heavy process ended with code -9: starting another" in server.stop()


def test_it_does_not_outlive_a_server_that_is_killed(server: HeavyServer) -> None:
    os.kill(server.process.pid, signal.SIGKILL)
    assert server.end() == ""
