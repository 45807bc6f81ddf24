"""uvicorn serves connections that the dispatcher passes through a Unix socket instead of a port."""

import asyncio
import signal
import socket
from typing import Any, cast

import uvicorn

from config.server.connections import ConnectionLimits, Connections
from config.server.dispatcher import READY
from config.server.http_protocol import BoundedHttpProtocol

KEEP_ALIVE_SECONDS = 75  # longer than proxies keep theirs, so they close idle ones, and none sends into a closed one
FINISH_SECONDS = 15  # less than the parent waits for us
MAX_TAKEN_AT_ONCE = 64
"""The maximum number of connections that are taken at once, before open ones are served again."""
TICKS_PER_CHECK = 10
"""Tenths of a second between two checks for slow clients."""


class WebServer(uvicorn.Server):
    """A server that runs until SIGTERM or the end of its socket, and then finishes its requests."""

    def __init__(self, application: str, line: socket.socket, bounds: ConnectionLimits) -> None:
        # Without a set-up of its own, uvicorn logs as everything else does.
        config = uvicorn.Config(
            application,
            log_config=None,
            log_level="warning",
            server_header=False,
            access_log=False,
            proxy_headers=False,  # by itself, uvicorn believes those of every process on this machine
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=FINISH_SECONDS,
        )
        super().__init__(config)
        self._line = line
        self._line.setblocking(False)
        self._arriving: set[asyncio.Task[Any]] = set()
        self._open_connections = Connections(bounds)

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        # A signal that comes before the server's own handlers are there, or after they are gone, asks for the same.
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        super().run(sockets)

    def _stop(self, *_: object) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        asyncio.get_running_loop().add_reader(self._line, self._take)
        try:
            self._line.send(READY)
        except BrokenPipeError:  # the parent left while we warmed up
            self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().remove_reader(self._line)
        self._line.close()
        await super().shutdown(sockets)

    def _take(self) -> None:
        """Take the connections that wait in the socket, or notice its end."""
        for _ in range(MAX_TAKEN_AT_ONCE):
            try:
                said, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
            except BlockingIOError:
                return
            except OSError:
                said, descriptors = b"", []
            for descriptor in descriptors:
                task = asyncio.create_task(self._serve_connection(socket.socket(fileno=descriptor)))
                self._arriving.add(task)
                task.add_done_callback(self._arriving.discard)
            if not said:
                asyncio.get_running_loop().remove_reader(self._line)
                self.should_exit = True
                return

    async def _serve_connection(self, connection: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        return BoundedHttpProtocol(
            open_connections=self._open_connections,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )

    async def on_tick(self, counter: int) -> bool:
        """Check slow clients about once a second. uvicorn calls this ten times a second."""
        if counter % TICKS_PER_CHECK == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                cast("BoundedHttpProtocol", connection).check(now)
        return await super().on_tick(counter)
