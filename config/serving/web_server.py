"""uvicorn, for connections that come through a line from the reception in place of a port."""

import asyncio
import signal
import socket
from typing import Any

import uvicorn

from config.serving.reception import READY

KEEP_ALIVE_SECONDS = 75  # longer than proxies keep theirs: it is they who close, so none sends into a closed one
FINISH_SECONDS = 15  # less than the parent waits for us


class WebServer(uvicorn.Server):
    """Serves until SIGTERM or the end of the line, and then finishes the requests under way."""

    def __init__(self, application: str, line: socket.socket) -> None:
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
        """A connection, or the end of the line."""
        try:
            said, descriptors, _, _ = socket.recv_fds(self._line, 1, 1)
        except OSError:
            said, descriptors = b"", []
        for descriptor in descriptors:
            task = asyncio.create_task(self._serve_connection(socket.socket(fileno=descriptor)))
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)
        if not said:
            asyncio.get_running_loop().remove_reader(self._line)
            self.should_exit = True

    async def _serve_connection(self, connection: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made
