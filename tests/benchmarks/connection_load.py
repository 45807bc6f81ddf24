"""An attack with connections: a process of its own for a benchmark and a test.

`python -m tests.benchmarks.connection_load PORT SECONDS HALVES BODIES` opens HALVES connections that send half a head
and wait, one with a head of 200 MB, and twice BODIES with a body of 300 MB, announced and chunked. Whatever the server
closes is begun anew after a pause, until the time is over. It prints one JSON object: `opened` connections, `refused`
ones, which got an answer, and `head_mb` and `body_mb`, what could be sent of one head and of one body at most.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

HALF = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nX-Half: "
ANNOUNCED = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000000\r\n\r\n"
CHUNKED = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECE = b"x" * 65_536
CHUNK = b"10000\r\n" + PIECE + b"\r\n"
HEAD_PIECES, BODY_PIECES = 3_100, 4_600
PAUSE_SECONDS = 2.0


class Load:
    """All connections, in one event loop."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.opened = self.refused = 0
        self.most_pieces = {HALF: 0, ANNOUNCED: 0, CHUNKED: 0}

    async def run(self, seconds: float, halves: int, bodies: int) -> None:
        """Keep them all up for so long."""
        wanted = [
            *[self._hold for _ in range(halves)],
            lambda: self._send(HALF, PIECE, HEAD_PIECES),
            *[lambda: self._send(ANNOUNCED, PIECE, BODY_PIECES) for _ in range(bodies)],
            *[lambda: self._send(CHUNKED, CHUNK, BODY_PIECES) for _ in range(bodies)],
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                for one in wanted:
                    group.create_task(self._repeat(one))

    async def _repeat(self, connect: Callable[[], Awaitable[None]]) -> None:
        while True:
            with suppress(OSError):
                await connect()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _hold(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.opened += 1
        try:
            writer.write(HALF)
            self.refused += bool(await reader.read())
        finally:
            writer.close()

    async def _send(self, begun: bytes, piece: bytes, times: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        self.opened += 1
        try:
            writer.write(begun)
            with suppress(OSError):  # refused, which the answer says
                for number in range(times):
                    writer.write(piece)
                    self.most_pieces[begun] = max(self.most_pieces[begun], number)
                    await writer.drain()
            self.refused += bool(await reader.read(1))
        finally:
            writer.close()


def main(port: int, seconds: float, halves: int, bodies: int) -> None:
    """Send, and print what came of it."""
    load = Load(port)
    asyncio.run(load.run(seconds, halves, bodies))
    megabytes = {name: pieces * len(PIECE) / 1_000_000 for name, pieces in load.most_pieces.items()}
    sent = {"head_mb": megabytes[HALF], "body_mb": max(megabytes[ANNOUNCED], megabytes[CHUNKED])}
    print(json.dumps({"opened": load.opened, "refused": load.refused, **sent}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
