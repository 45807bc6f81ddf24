"""The load of the greedy key: a process of its own, so that what it costs can be given a lower priority.

`python -m tests.benchmarks.greedy_load ADDRESS CONNECTIONS SECONDS` reads one JSON object from standard input: `key`
and `requests`, a list of [method, path, content type, body in Latin-1]. Each connection sends the next costly request
as soon as the last one was answered, by whatever status, and heeds no Retry-After. Prints one JSON object: `statuses`,
how many answers had which.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

NICENESS = 5
MOST_ANSWER_BYTES = 2**26


async def _main(address: str, connections: int, seconds: float) -> None:
    given = json.load(sys.stdin)
    parts = urlsplit(address)
    headers = f"Host: {parts.netloc}\r\nAuthorization: Bearer {given['key']}"
    requests = [
        _raw(method, path, body.encode("latin-1"), f"{headers}\r\nContent-Type: {kind}")
        for method, path, kind, body in given["requests"]
    ]
    turn, statuses, until = itertools.cycle(requests), Counter[str](), time.monotonic() + seconds
    place = parts.hostname or "", parts.port or 80
    clients = [_client(place, turn, statuses, until) for _ in range(connections)]
    await asyncio.wait_for(asyncio.gather(*clients), seconds + 120)
    print(json.dumps({"statuses": statuses}))


def _raw(method: str, path: str, body: bytes, headers: str) -> bytes:
    return f"{method} {path} HTTP/1.1\r\n{headers}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def _client(place: tuple[str, int], turn: Iterator[bytes], statuses: Counter[str], until: float) -> None:
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection(*place, limit=MOST_ANSWER_BYTES)
            while time.monotonic() < until:
                statuses[await _exchange(reader, writer, next(turn))] += 1
            writer.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            statuses["broken"] += 1
            await asyncio.sleep(0.01)


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> str:
    """Return the status of the answer."""
    writer.write(request)
    await writer.drain()
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next((line.split(b":")[1] for line in head.splitlines() if line.startswith(b"content-length:")), None)
    if length is None:  # it comes in chunks
        await reader.readuntil(b"\r\n0\r\n\r\n")
    else:
        await reader.readexactly(int(length))
    return head.split()[1].decode()


if __name__ == "__main__":
    os.nice(NICENESS)
    asyncio.run(_main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
