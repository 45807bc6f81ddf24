"""The bounds of a connection: its heads, its time, its room among others."""

import resource
import socket
import time
from typing import Any

import pytest

from config.server import http_protocol
from config.server.connections import ConnectionLimits
from config.server.http_protocol import MAX_HEAD_BYTES, MAX_HEADER_FIELDS
from tests.config.server.bounded_server import LONG, PLENTY, answer, bounded_server, is_closed, received
from tests.faults.processes import until

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
LAST = b"Connection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that takes seconds takes tenths of them."""
    for name, seconds in (("HEAD_SECONDS", 0.3), ("PAUSE_SECONDS", 0.3), ("LINGER_SECONDS", 0.3)):
        monkeypatch.setattr(http_protocol, name, seconds)


@pytest.mark.parametrize("size", [10, 30_000, MAX_HEAD_BYTES - 200])
def test_a_head_within_the_bound_is_read_in_whatever_pieces_it_comes(size: int) -> None:
    head = GET + b"X-Long: " + b"x" * size + b"\r\n" + LAST
    with bounded_server() as server:
        assert server.ask(head).startswith(b"HTTP/1.1 200")
        with server.connect() as connection:
            for start in range(0, len(head), 10_000):
                connection.sendall(head[start : start + 10_000])
                time.sleep(0.005)
            assert received(connection).endswith(b"\r\n\r\n0")


@pytest.mark.finding("2a")
@pytest.mark.parametrize(
    "head",
    [
        GET + b"X-Long: " + b"x" * 3_000_000,
        GET + b"X-Long: xxxx\r\n" * 200_000,
        b"GET /" + b"x" * 3_000_000,
        GET + b"X-Long: " + b"x" * MAX_HEAD_BYTES + b"\r\n" + LAST,
        GET + b"X: x\r\n" * (MAX_HEADER_FIELDS + 1) + LAST,
        b"\r\n" * MAX_HEAD_BYTES,
        GET + b"\r\n" + GET + b"X-Long: " + b"x" * 200_000,
    ],
    ids=["long field", "many", "long address", "a little too long", "many at once", "blank lines", "a later one"],
)  # fmt: skip
def test_a_head_beyond_the_bound_is_refused(head: bytes) -> None:
    with bounded_server() as server:
        refusal = server.ask(head)
        assert b"HTTP/1.1 431 Request Header Fields Too Large\r\n" in refusal
        assert refusal.endswith(b"\n")
        until(lambda: not server.state.connections)
        assert len(server.open_connections) == 0


@pytest.mark.finding("2a")
def test_most_of_a_huge_head_is_not_even_read() -> None:
    with bounded_server() as server, server.connect() as connection:
        assert _sent(connection, b"x" * 65_536, times=3_000) < 300


@pytest.mark.finding("2c")
@pytest.mark.parametrize("half", [GET, b"G", GET + b"\r\n" + GET, b"\r\n"])
def test_a_head_that_is_not_completed_is_refused(half: bytes) -> None:
    with bounded_server() as server, server.connect(half) as connection:
        assert received(connection).count(b"HTTP/1.1 408 Request Timeout") == 1
        until(lambda: not server.state.connections)


@pytest.mark.finding("2c")
@pytest.mark.parametrize("begun", [b"", POST], ids=["head", "body"])
def test_what_drips_is_refused(begun: bytes) -> None:
    with bounded_server() as server, server.connect(begun) as connection:
        assert _sent(connection, b"x", times=400, pause=0.02) < 200
        until(lambda: not server.state.connections)


def test_a_connection_on_which_nothing_is_said_is_closed_without_a_word() -> None:
    with bounded_server() as server, server.connect() as connection:
        assert received(connection) == b""


def test_an_idle_connection_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with bounded_server() as server, server.connect(GET + b"\r\n") as connection:
        assert answer(connection).startswith(b"HTTP/1.1 200")
        time.sleep(0.5)  # longer than a head may take
        connection.sendall(GET + b"\r\n")
        assert answer(connection).startswith(b"HTTP/1.1 200")


def test_a_connection_ends_after_many_requests_and_its_last_response_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "MAX_REQUESTS", 3)
    with bounded_server() as server, server.connect() as connection:
        for _ in range(2):
            connection.sendall(GET + b"\r\n")
            assert b"connection: close" not in answer(connection).lower()
        connection.sendall(GET + b"\r\n")
        assert b"connection: close" in received(connection).lower()
        assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200"), "another connection begins anew"


def test_the_last_request_of_a_connection_is_refused_in_words_even_before_its_body_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refusing(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 429, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"no"})

    monkeypatch.setattr(http_protocol, "MAX_REQUESTS", 1)
    with bounded_server(refusing) as server, server.connect(POST + b"x" * 10) as connection:
        assert answer(connection).startswith(b"HTTP/1.1 429")
        connection.sendall(b"x" * 990 + GET + b"\r\n")
        assert b"connection: close" in received(connection).lower()


@pytest.mark.finding("2c")
def test_a_body_that_pauses_is_refused() -> None:
    with bounded_server() as server, server.connect(POST + b"x" * 10) as connection:
        assert received(connection).startswith(b"HTTP/1.1 408 Request Timeout")
        until(lambda: not server.state.connections)


def test_a_body_that_comes_in_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "MIN_BODY_RATE", 100)
    with bounded_server() as server, server.connect(POST) as connection:
        for _ in range(10):
            time.sleep(0.05)
            connection.sendall(b"x" * 100)
        assert answer(connection).endswith(b"1000")


@pytest.mark.finding("2c")
def test_an_answer_that_is_not_read_is_given_up() -> None:
    with bounded_server() as server:
        with server.connect(b"GET /long HTTP/1.1\r\nHost: x\r\n" + LAST) as connection:
            assert connection.recv(10) == b"HTTP/1.1 2"
            until(lambda: not server.state.connections)
            assert len(received(connection)) < len(LONG)
        assert len(server.ask(b"GET /long HTTP/1.1\r\nHost: x\r\n" + LAST)) > len(LONG)


@pytest.mark.finding("2c")
def test_heads_that_are_incomplete_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 60)
    for bounds in (PLENTY._replace(per_client=20), PLENTY._replace(incomplete_heads=20), PLENTY._replace(open=20)):
        with bounded_server(bounds=bounds) as server:
            halves = [server.connect(GET) for _ in range(20)]
            until(lambda: sum(one._head_bytes > 0 for one in server.state.connections) == 20)  # type: ignore[union-attr]
            halves += [server.connect(GET) for _ in range(40)]
            for _ in range(5):
                assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200")
            until(lambda: len(server.open_connections) <= 20)
            assert received(halves[0]).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert not is_closed(halves[-1])()
            _close(halves)


@pytest.mark.finding("2c")
def test_idle_connections_make_room_for_new_ones() -> None:
    with bounded_server(bounds=PLENTY._replace(open=20)) as server:
        idle = [server.connect(GET + b"\r\n") for _ in range(20)]
        assert all(answer(connection) for connection in idle)
        assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200")
        assert received(idle[0]) == b""
        _close(idle)


@pytest.mark.finding("2c")
def test_answers_that_nobody_reads_make_room_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "PAUSE_SECONDS", 60)
    with bounded_server(bounds=PLENTY._replace(per_client=5)) as server:
        unread = [server.connect(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(5)]
        assert all(connection.recv(10) for connection in unread)
        for _ in range(10):
            assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200")
        until(lambda: len(server.state.connections) <= 5)
        _close(unread)


@pytest.mark.finding("2c")
@pytest.mark.parametrize("bounds", [PLENTY._replace(per_client=5), PLENTY._replace(open=5)])
def test_where_all_are_busy_a_new_one_is_refused(bounds: ConnectionLimits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "PAUSE_SECONDS", 60)
    with bounded_server(bounds=bounds) as server:
        busy = [server.connect(POST) for _ in range(5)]
        until(lambda: sum(one._body_since is not None for one in server.state.connections) == 5)  # type: ignore[union-attr]
        refused = server.ask(GET + LAST)
        assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"\r\nretry-after: 2\r\n" in refused
        busy[0].sendall(b"x" * 1000)
        assert answer(busy[0]).endswith(b"1000")
        assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200")
        _close(busy)


def test_trusted_proxies_have_no_bound_of_their_own(settings: object) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]  # type: ignore[attr-defined]
    with bounded_server(bounds=PLENTY._replace(per_client=2)) as server:
        busy = [server.connect(POST) for _ in range(6)]
        assert server.ask(GET + LAST).startswith(b"HTTP/1.1 200")
        _close(busy)


def _close(connections: list[socket.socket]) -> None:
    for connection in connections:
        connection.close()


def _sent(connection: socket.socket, data: bytes, *, times: int, pause: float = 0.0) -> int:
    """Return how often the data could be sent before the connection was closed."""
    for number in range(times):
        try:
            connection.sendall(data)
        except ConnectionError:
            return number
        time.sleep(pause)
    return times


@pytest.mark.finding("2c")
@pytest.mark.parametrize(
    ("descriptors", "bounds"),
    [
        (1_024, ConnectionLimits(384, 96, 256)), (20_000, ConnectionLimits(2_000, 500, 256)), (300,
        ConnectionLimits(22, 5, 22)), (resource.RLIM_INFINITY, ConnectionLimits(2_000, 500, 256)),
    ],
)  # fmt: skip
def test_there_are_no_more_connections_than_descriptors(
    descriptors: int, bounds: ConnectionLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert ConnectionLimits.within_descriptors(2_000, 256) == bounds
