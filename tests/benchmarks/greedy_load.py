"""The load of the greedy key: a process of its own, so that what it costs can be given a lower priority.

`python -m tests.benchmarks.greedy_load ADDRESS CONNECTIONS SECONDS` reads one JSON object from standard input: `key`
and `agent`. Each connection sends the next costly request as soon as the last one was answered, by whatever status, and
heeds no Retry-After. Prints one JSON object: `statuses`, how many answers had which.
"""

import asyncio
import itertools
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

NICENESS = 5


class Costly(NamedTuple):
    """One of the costliest requests that there are."""

    name: str
    method: str
    path: str
    body: bytes


def costly_requests(agent: str) -> list[Costly]:
    """Return each kind once: texts that take long to cut into tokens or sentences, long histories, large previews."""
    chance = random.Random(7)
    digits = "".join(chance.choice("0123456789") for _ in range(1_000_000))
    turns = [{"role": "user", "content": f"{number} " + "lighthouse sea " * 6_400} for number in range(48)]
    history = {"agent": agent, "profile": "research", "topic": "lighthouses", "history": turns}
    small = {"agent": agent, "profile": "research", "topic": "lighthouses"}
    lists = "".join("- a line of a list that is to be rendered [a](b)\n" for _ in range(8_000))
    posted: list[tuple[str, str, Any]] = [
        ("compress_digits", "/api/v1/compress", {"content": digits, "max_tokens": 100}),
        ("compress_links", "/api/v1/compress", {"content": "[a](" * 250_000, "max_tokens": 100}),
        ("compress_words", "/api/v1/compress", {"content": "lighthouse sea. " * 62_000, "max_tokens": 100}),
        ("compress_angles", "/api/v1/compress", {"content": "<" * 1_000_000, "max_tokens": 100}),
        ("tokens_digits", "/api/v1/tokens", {"content": digits}),
        ("assembly_history", "/api/v1/assemblies", history),
        ("assembly", "/api/v1/assemblies", small),
        ("memory_search", f"/api/v1/agents/{agent}/memories/search", {"query": "lighthouses and the sea " * 40}),
        ("document", f"/api/v1/agents/{agent}/documents", {"path": "a.md", "title": "A", "content": lists}),
    ]
    return [Costly(name, "POST", path, json.dumps(body).encode()) for name, path, body in posted]


async def _main(address: str, connections: int, seconds: float) -> None:
    given = json.load(sys.stdin)
    parts = urlsplit(address)
    requests = [_raw(one, given["key"], parts.netloc) for one in costly_requests(given["agent"])]
    turn, statuses, until = itertools.cycle(requests), Counter[str](), time.monotonic() + seconds
    place = parts.hostname or "", parts.port or 80
    clients = [_client(place, turn, statuses, until) for _ in range(connections)]
    await asyncio.wait_for(asyncio.gather(*clients), seconds + 120)
    print(json.dumps({"statuses": statuses}))


def _raw(one: Costly, key: str, host: str) -> bytes:
    head = (
        f"{one.method} {one.path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(one.body)}\r\n\r\n"
    )
    return head.encode() + one.body


async def _client(place: tuple[str, int], turn: Iterator[bytes], statuses: Counter[str], until: float) -> None:
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection(*place)
            while time.monotonic() < until:
                statuses[await _exchange(reader, writer, next(turn))] += 1
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            statuses["broken"] += 1
            await asyncio.sleep(0.01)


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> str:
    """Return the status of the answer."""
    writer.write(request)
    await writer.drain()
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"content-length:"))
    await reader.readexactly(length)
    return head.split()[1].decode()


if __name__ == "__main__":
    os.nice(NICENESS)
    asyncio.run(_main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
