"""Several web processes at one address: they share the work, one that dies is replaced, and all end with the server."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from config.postgres.processes import command_line
from tests.faults.processes import kill, until
from tests.faults.worker import Command

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("committed_database")]


class Server(Command):
    """A running `serve` with two web processes."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        options = (f"--port={port}", "--processes=2", "--no-worker", *arguments)
        super().__init__("serve", *options, DOSSIER_DATA_DIR=str(folder))

    def web(self) -> list[int]:
        return [pid for pid in self.family() if "\0web\0" in command_line(pid)]

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.address}/accounts/login/", timeout=30).status_code == 200
        except httpx.TransportError:
            return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One that answers; all of it is gone afterwards."""
    server = Server(tmp_path)
    yield server
    if server.process.returncode is None:
        server.kill()
    assert server.is_gone()


def test_they_share_the_connections_count_together_and_answer_what_is_under_way_before_the_end(server: Server) -> None:
    until(lambda: len(server.web()) == 2 and server.answers(), seconds=180)
    route = 'route="/accounts/login/",status="2xx"'

    def counted() -> float:
        lines = httpx.get(f"{server.address}/metrics").text.splitlines()
        return next(
            float(line.split()[-1]) for line in lines if line.startswith("http_requests_total") and route in line
        )

    before, clients = counted(), [httpx.Client(base_url=server.address, timeout=30) for _ in range(4)]
    for client in clients:  # one connection each
        assert [client.get("/accounts/login/").status_code for _ in range(3)] == [200] * 3
    times = [seconds_of(pid) for pid in server.web()]
    assert {counted() for _ in range(4)} == {before + 12}  # whoever is asked
    assert min(times) > 0
    for client in clients:
        client.close()
    stop_during_a_request(server)
    assert server.end() == ""
    assert server.process.returncode == 0


def stop_during_a_request(server: Server) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.send(b"POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        time.sleep(0.3)
        server.process.terminate()
        time.sleep(0.3)
        client.send(b"{}")
        assert client.recv(100).startswith(b"HTTP/1.1 401")


def seconds_of(pid: int) -> int:
    """Processor time, in ticks."""
    facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(facts[11]) + int(facts[12])


@pytest.mark.deep
def test_one_that_dies_is_replaced_while_the_other_goes_on_and_none_outlives_the_server(server: Server) -> None:
    until(lambda: len(server.web()) == 2 and server.answers(), seconds=180)
    first, second = server.web()
    kill(first)
    # What is on its way to it until its sockets are closed is lost with it; its command line is gone before.
    until(lambda: not Path(f"/proc/{first}").exists(), seconds=120)
    assert all(server.answers() for _ in range(6))
    until(lambda: len(server.web()) == 2, seconds=120)
    assert second in server.web()
    kill(*server.web())
    until(lambda: len(server.web()) == 2 and server.answers(), seconds=180)
    os.kill(server.process.pid, signal.SIGKILL)
    told = server.end().splitlines()
    assert len(told) == 3
    assert all("the web process ended with code -9: starting another" in line for line in told)


@pytest.mark.deep
@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("when", ["starting", "warming up", "listening"])
def test_it_stops_when_it_is_asked_to_at_any_moment(name: signal.Signals, when: str, server: Server) -> None:
    moments = {
        "starting": lambda: "serve" in command_line(server.process.pid),
        "warming up": lambda: len(server.web()) == 2,
        "listening": lambda: server.answers() and len(server.web()) == 2,
    }
    until(moments[when], seconds=180)
    server.family()
    os.kill(server.process.pid, name)
    os.kill(server.process.pid, name)
    logged = server.end()
    if when == "starting":
        assert server.process.returncode in {0, -name} or python_gave_up(server, logged)
    else:
        assert (server.process.returncode, "Traceback" in logged) == (0, False)
    assert not server.answers()


def python_gave_up(server: Server, logged: str) -> bool:
    """Whether Ctrl-C came while Python itself was starting, before it ran any line of ours: then it ends with 1."""
    lines = logged.strip().splitlines()
    return (
        server.process.returncode == 1
        and lines[0].startswith("Fatal Python error: init_")
        and lines[-1] == "KeyboardInterrupt"
        and "manage.py" not in logged
    )


def test_an_address_that_is_taken_is_refused_in_plain_words(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = Command("serve", f"--port={taken.getsockname()[1]}", DOSSIER_DATA_DIR=str(tmp_path))
        logged = command.end()
    assert "Choose another --port or --host." in logged
    assert command.process.returncode == 1
