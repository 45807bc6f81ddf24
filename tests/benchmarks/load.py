"""The load of one benchmark: a process of its own, so that what it costs is not taken from the one that measures.

`python -m tests.benchmarks.load ADDRESS CLIENTS SECONDS` reads one JSON object per line from standard input: `key` and
`bodies`, a list, and `anew`, whether each request is for a moment that nobody asked for. It keeps so many connections
open, sends the next request on each as soon as the last one was answered, and prints one JSON object: `took`
(milliseconds of each request), `errors` (answers that are none, or none of status 201), `seconds`, and `own`, the
processor time in milliseconds that one request costs here: about 0.3.
"""

import datetime
import itertools
import json
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

CREATED = b"HTTP/1.1 201"
PATIENCE_SECONDS = 30.0


def main(address: str, clients: int, seconds: float) -> None:
    """Send requests for so long and print what came of them."""
    given = json.load(sys.stdin)
    load = _Load(address, given["key"], _bodies(given["bodies"], anew=given["anew"]))
    begun, used = time.perf_counter(), time.process_time()
    load.run(clients, until=begun + seconds)
    elapsed = time.perf_counter() - begun
    own = (time.process_time() - used) * 1000 / max(1, len(load.took))
    print(json.dumps({"took": load.took, "errors": load.errors, "seconds": elapsed, "own": own}))


def _bodies(bodies: list[dict[str, Any]], *, anew: bool) -> Iterator[bytes]:
    first = time.time_ns() // 1_000_000 % 86_400_000  # of two runs, neither asks for the other's moments
    for number, body in enumerate(itertools.cycle(bodies), start=first):
        later = datetime.timedelta(microseconds=number if anew else 0)
        now = datetime.datetime.fromisoformat(body["now"]) + later
        yield json.dumps({**body, "now": now.isoformat()}).encode()


@dataclass(slots=True)
class _Client:
    """One connection, and the answer that is coming in."""

    connection: socket.socket
    sent_at: float = 0.0
    answer: bytearray = field(default_factory=bytearray)

    @property
    def is_answered(self) -> bool:
        """Whether the answer is whole."""
        head, end, body = self.answer.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().splitlines() if line.startswith(b"content-length:")]
        return bool(end) and len(body) >= int(lengths[0])


class _Load:
    """The clients, all in one thread."""

    def __init__(self, address: str, key: str, bodies: Iterator[bytes]) -> None:
        parts = urlsplit(address)
        self._place = (parts.hostname or "", parts.port or 80)
        self._head = (
            f"POST /api/v1/assemblies HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        ).encode()
        self._bodies = bodies
        self._selector = selectors.DefaultSelector()
        self.took: list[float] = []
        self.errors = 0

    def run(self, clients: int, *, until: float) -> None:
        """Ask until then, and wait for the last answers."""
        for _ in range(clients):
            self._begin()
        while self._selector.get_map():
            found = self._selector.select(PATIENCE_SECONDS)
            if not found:
                self.errors += len(self._selector.get_map())
                return
            for key, _ in found:
                self._read(key.data, until)

    def _begin(self) -> None:
        client = _Client(socket.create_connection(self._place, PATIENCE_SECONDS))
        self._selector.register(client.connection, selectors.EVENT_READ, client)
        self._send(client)

    def _send(self, client: _Client) -> None:
        body = next(self._bodies)
        client.answer.clear()
        client.sent_at = time.perf_counter()
        client.connection.sendall(self._head + str(len(body)).encode() + b"\r\n\r\n" + body)

    def _read(self, client: _Client, until: float) -> None:
        try:
            part = client.connection.recv(262_144)
        except OSError:
            part = b""
        client.answer += part
        if part and not client.is_answered:
            return
        self.took.append((time.perf_counter() - client.sent_at) * 1000)
        self.errors += not (part and client.answer.startswith(CREATED))
        if part and time.perf_counter() < until:
            self._send(client)
            return
        self._selector.unregister(client.connection)
        client.connection.close()
        if time.perf_counter() < until:
            self._begin()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
