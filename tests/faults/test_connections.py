"""A running server during an attack with connections. `make test-deep` has all of them, `make test` some."""

import os
import re
import resource
import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.benchmarks.connections import attack, resident_mb, temporary_mb
from tests.config.server.bounded_server import received
from tests.faults.processes import until
from tests.faults.test_web_processes import Server

pytestmark = pytest.mark.faults

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
SECONDS, HALVES, BODIES = (20, 2_000, 10) if DEEP else (5, 200, 3)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_database: str) -> Iterator[Server]:
    """One that answers, with room for few connections of one client, started where few descriptors are allowed.
    Afterwards it has nothing to tell, and all of it is gone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAX_CONNECTIONS_PER_CLIENT", "256" if DEEP else "50")
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
        server = Server(tmp_path_factory.mktemp("served"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        until(lambda: len(server.web()) == 2 and server.answers(), seconds=120)
        yield server
        assert server.stop() == ""
    finally:
        if server.process.returncode is None:
            server.kill()
        assert server.is_gone()


@pytest.mark.deep
@pytest.mark.finding("2a")
@pytest.mark.finding("2b")
@pytest.mark.finding("2c")
def test_people_sign_in_meanwhile_and_nothing_is_left(server: Server) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert {resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in server.web()} == {(hard, hard)}
    assert all(server.answers() for _ in range(6))
    processes = server.family()
    before = {pid: resident_mb(pid) for pid in processes}
    seen = attack(server.address, processes, SECONDS, HALVES, BODIES)
    assert seen.login_errors == 0
    assert len(seen.login_ms) >= SECONDS / 5  # on a machine that has much else to do
    assert seen.most_disk_mb < 5
    assert seen.load["opened"] >= HALVES
    assert seen.load["head_mb"] < 20  # of 200; what the sockets' buffers hold is sent in vain
    assert seen.load["body_mb"] < 60  # of 300
    assert temporary_mb(processes) < 5
    assert max(resident_mb(pid) - before[pid] for pid in processes) < 100


@pytest.mark.finding("2b")
@pytest.mark.parametrize(
    ("announced", "status"), [("Content-Length: 300000000", b"413"), ("Transfer-Encoding: chunked", b"411")]
)
def test_a_refused_body_is_answered_at_once_and_in_our_words(server: Server, announced: str, status: bytes) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    for path, words in (("/accounts/login/", b"text/html"), ("/api/v1/documents", b"application/problem+json")):
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{announced}\r\n\r\n".encode())
            answer = received(client)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert words in answer
        assert b"connection: close" in answer


@pytest.mark.finding("6.4")
def test_a_static_file_that_did_not_change_is_no_error(server: Server) -> None:
    """An error would be in the log, which the server's end shows to be empty."""
    with httpx.Client(base_url=server.address, headers={"Accept-Encoding": "gzip"}, timeout=30) as client:
        page = client.get("/accounts/login/").text
        for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
            file = client.get(path)
            assert file.status_code == 200
            unchanged = client.get(path, headers={"If-Modified-Since": file.headers["Last-Modified"]})
            assert (unchanged.status_code, unchanged.content) == (304, b"")
