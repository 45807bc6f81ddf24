"""Writing over HTTP, to an agent that has 10,000 memories: one memory, a hundred, a hundred events, a daily log.

All write for the same agent, from one client and from several: writers of one agent take turns where they must.
"""

import datetime
import itertools
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
import httpx

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served
from tests.benchmarks.written_text import talk_of, written_days

NAME = "write_paths"
AGENT = "/api/v1/agents/writer"
MEMORIES = 10_000
BATCH = 100
CLIENTS = (1, 8)
REQUESTS = {"memory": 240, "memory_batch": 24, "event_batch": 24, "log_append": 240}
LINES = 20_000
LOG_DAYS = 20
"""Appended to in turn, so that none grows longer than a busy day's."""
FIRST_DAY = datetime.date(2026, 1, 1)


def run() -> None:
    """Print latency in milliseconds and rows per second, and how many times faster a row is in a batch."""
    lines = itertools.cycle(line for day in talk_of(written_days(), 1, LINES).days for line in day)
    with served() as address:
        django.setup()
        _fill(list(itertools.islice(lines, MEMORIES)))
        key = manage("create_api_key", "--admin").split()[-1]
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            for clients in CLIENTS:
                rates = {kind: _measure(client, kind, lines, clients) for kind in REQUESTS}
                ratio = rates["memory_batch"] / rates["memory"]
                figure(NAME, f"batch_to_single{_suffix(clients)}", ratio, "times", REQUESTS["memory_batch"])


def _fill(lines: list[str]) -> None:
    from agents.models import Agent
    from memories.services import MemoryFacts, memories_create
    from teams.principal import SYSTEM

    agent = Agent.objects.create(slug="writer", name="Writer")
    facts = [MemoryFacts(kind="fact", text=line) for line in lines]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    _analyse()


def _analyse() -> None:
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _measure(client: httpx.Client, kind: str, lines: Iterator[str], clients: int) -> float:
    """The rows per second."""

    def send(request: tuple[str, dict[str, Any]]) -> float:
        path, body = request
        started = time.perf_counter()
        client.post(f"{AGENT}/{path}", json=body).raise_for_status()
        return (time.perf_counter() - started) * 1000

    requests = [_request(kind, lines, number) for number in range(REQUESTS[kind])]
    send(requests.pop())
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        took = sorted(pool.map(send, requests))
    rows = len(took) * (BATCH if kind.endswith("_batch") else 1)
    rate = rows / (time.perf_counter() - started)
    figure(NAME, f"{kind}{_suffix(clients)}_p50", statistics.median(took), "ms", len(took))
    figure(NAME, f"{kind}{_suffix(clients)}_p95", took[int(len(took) * 0.95)], "ms", len(took))
    figure(NAME, f"{kind}{_suffix(clients)}_rate", rate, "rows/s", len(took))
    return rate


def _suffix(clients: int) -> str:
    return "" if clients == 1 else f"_{clients}_clients"


def _request(kind: str, lines: Iterator[str], number: int) -> tuple[str, dict[str, Any]]:
    """The path below the agent's, and the body."""
    if kind == "memory":
        return "memories", _memory(next(lines))
    if kind == "log_append":
        day = FIRST_DAY + datetime.timedelta(days=number % LOG_DAYS)
        return f"daily-logs/{day.isoformat()}", {"text": next(lines)}
    make = _memory if kind == "memory_batch" else _event
    noun = "memories" if kind == "memory_batch" else "events"
    return f"{noun}/batch", {"items": [make(line) for line in itertools.islice(lines, BATCH)]}


def _memory(line: str) -> dict[str, Any]:
    return {"kind": "fact", "text": line}


def _event(line: str) -> dict[str, Any]:
    return {"type": "message", "content": {"text": line}, "session_key": "today"}
