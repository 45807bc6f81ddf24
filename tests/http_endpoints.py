"""Endpoints for external sources, on real sockets of this machine: good ones, and every kind of bad one."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assembly.sources.external.http_queries import query_all
from assembly.sources.external.questions import ExternalAnswer, ExternalQuery
from config.http.outbound.background_call import BackgroundCall

NOTICE = {"kind": "notice", "score": 0.9, "occurred_at": "2025-03-14T11:00:00Z"}
GOOD = {
    "results": [
        {"id": "7", "text": "The ferry is cancelled.", **NOTICE},
        {"id": "8", "text": "Trains run.", "tags": ["rail"], "path": "travel/today.md"},
    ]
}


@dataclass
class Seen:
    """A request as the endpoint got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Endpoint:
    """A server on a free port. `behave` answers each request; `gone` is set once a client has hung up on it."""

    behave: "Callable[[Handler], None]"
    seen: list[Seen] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/ask?of=tickets"


class Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.endpoint.seen.append(Seen(self.path, dict(self.headers), body))
        try:
            self.endpoint.behave(self)
        except (BrokenPipeError, ConnectionResetError):
            self.endpoint.gone.set()
        self.close_connection = True

    def begin(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.begin(status, **{"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def wait_until_gone(self, seconds: float = 10.0) -> None:
        """Returns when the client hangs up."""
        self.connection.settimeout(seconds)
        if self.connection.recv(1) == b"":
            self.endpoint.gone.set()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Nothing: what is asked is in `seen`."""


@contextmanager
def serving(behave: Callable[[Handler], None]) -> Iterator[Endpoint]:
    """An endpoint that behaves like this, until the end of the block."""
    endpoint = Endpoint(behave)
    handler = type("Bound", (Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    endpoint.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def giving(document: Any, status: int = 200, **headers: str) -> Callable[[Handler], None]:
    """Answers with this document."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return lambda handler: handler.answer(body, status, **headers)


def closed_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def told_of(askings: Sequence[ExternalQuery], *, seconds: float) -> list[ExternalAnswer]:
    """As `gather` asks them: in a thread of its own, for a test's own thread may have an event loop already."""
    return BackgroundCall("asking", partial(query_all, askings, seconds=seconds)).result(seconds=30)
