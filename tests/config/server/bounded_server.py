"""A server of the bounded protocol on a free port of 127.0.0.1, with a small ASGI application, in a thread."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
import uvloop
from uvicorn.server import ServerState

from config.server.connections import ConnectionLimits, Connections
from config.server.http_protocol import BoundedHttpProtocol

CHECK_SECONDS = 0.02
PLENTY = ConnectionLimits(open=1_000, incomplete_heads=1_000, per_client=1_000)
LONG = b"x" * 20_000_000


async def small_application(scope: Any, receive: Any, send: Any) -> None:
    """Answers `/long` with twenty megabytes, anything else with the size of the body."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    body = LONG if scope["path"] == "/long" else b"%d" % size
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class BoundedServer:
    """A running server."""

    def __init__(self, application: Any, bounds: ConnectionLimits) -> None:
        self._config = uvicorn.Config(application, log_config=None, log_level="error", lifespan="off", access_log=False)
        self.state = ServerState()
        self.open_connections = Connections(bounds)
        self._loop = uvloop.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()])
        self._ended = asyncio.Event()
        self.address = ("127.0.0.1", 0)

    def start(self) -> None:
        self._thread.start()
        assert self._listening.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.get_running_loop().create_server(self._protocol, "127.0.0.1", 0)
        self.address = server.sockets[0].getsockname()
        self._listening.set()
        while not self._ended.is_set():
            now = asyncio.get_running_loop().time()
            for connection in list(self.state.connections):
                connection.check(now)  # type: ignore[union-attr]
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), CHECK_SECONDS)
        server.close()
        for connection in list(self.state.connections):
            connection.transport.abort()
        await asyncio.sleep(0.05)

    def _protocol(self) -> BoundedHttpProtocol:
        return BoundedHttpProtocol(
            open_connections=self.open_connections, config=self._config, server_state=self.state, app_state={}
        )

    def connect(self, data: bytes = b"") -> socket.socket:
        connection = socket.create_connection(self.address, timeout=10)
        connection.sendall(data)
        return connection

    def ask(self, data: bytes) -> bytes:
        """Return all that the server sends until it closes the connection; what it does not take is not sent."""
        with self.connect() as connection:
            with suppress(ConnectionError):
                connection.sendall(data)
            return received(connection)


@contextmanager
def bounded_server(application: Any = small_application, bounds: ConnectionLimits = PLENTY) -> Iterator[BoundedServer]:
    server = BoundedServer(application, bounds)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the end of the connection."""
    found = bytearray()
    with suppress(ConnectionError):
        while more := connection.recv(65_536):
            found += more
    return bytes(found)


def answer(connection: socket.socket) -> bytes:
    """Return one answer of the small application, which stays open."""
    found = b""
    while not found.partition(b"\r\n\r\n")[2]:
        more = connection.recv(65_536)
        assert more, found
        found += more
    return found


def is_closed(connection: socket.socket) -> Callable[[], bool]:
    """Return a question to ask again and again."""

    def ask() -> bool:
        connection.setblocking(False)
        try:
            return connection.recv(65_536) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    return ask
