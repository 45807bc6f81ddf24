"""What encryption costs: `POST /assemblies` with and without it, each request with a new topic.

Two servers on one database, one of which encrypts what it records, are asked in turn by one client, so that both have
the same minutes. The agent is that of `memory_assemble`: with 1,000 memories, and SIZES=10k with more.

`encryption_ratio` is the median with encryption divided by that without. `…_cpu_ms` is what the server's processes took
of the processors per request, which is less affected by what else the machine does. The servers have no workers: on one
database, each worker would do a part of the work that requests to the other server leave behind.
"""

import itertools
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import django
import httpx

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served
from tests.benchmarks.memory_assemble import run_workers
from tests.benchmarks.turn import filled_workers

if TYPE_CHECKING:
    from tests.benchmarks.turn import Worker

NAME = "encryption"
REQUESTS, WARM = 200, 12
PROFILES = ("conversation", "memory")


def run() -> None:
    """Print latency (milliseconds), processor time, and the ratio of both."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    (worker,) = filled_workers([os.environ.get("SIZES", "1k")])
    run_workers()
    requests = int(os.environ.get("REQUESTS", REQUESTS))
    key = manage("create_api_key", "--agent", worker.agent.slug).split()[-1]
    with ExitStack() as opened:
        servers = {way: opened.enter_context(_server(way)) for way in ("off", "on")}
        clients = {
            way: opened.enter_context(
                httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
            )
            for way, (address, _) in servers.items()
        }
        topics, took = worker.topics, {way: list[float]() for way in servers}
        for number in range(WARM + requests):
            if number == WARM:
                before = {way: _cpu_seconds(pid) for way, (_, pid) in servers.items()}
            for way in sorted(servers, reverse=bool(number % 2)):
                spent = _ask(clients[way], worker, next(topics), PROFILES[number // 2 % 2])
                if number >= WARM:
                    took[way].append(spent)
        cpu = {way: (_cpu_seconds(pid) - before[way]) * 1000 / requests for way, (_, pid) in servers.items()}
    for way, name in (("off", "plain"), ("on", "encrypted")):
        figure(NAME, f"{name}_p50_ms", statistics.median(took[way]), "ms", requests)
        figure(NAME, f"{name}_cpu_ms", cpu[way], "ms", requests)
    figure(NAME, "encryption_cpu_ratio", cpu["on"] / cpu["off"], "ratio", requests)
    figure(NAME, "encryption_ratio", statistics.median(took["on"]) / statistics.median(took["off"]), "ratio", requests)
    _check_encrypted(requests)


@contextmanager
def _server(way: str) -> Iterator[tuple[str, int]]:
    """Yield the address of a server with encryption on or off, and the id of its first process."""
    os.environ["ENCRYPT_RECORDS"] = way
    before = _children(os.getpid())
    with served("--no-worker") as address:
        (pid,) = _children(os.getpid()) - before
        yield address, pid


def _processes() -> dict[int, tuple[int, float]]:
    """Return for each process its parent, and the processor seconds that it has taken."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            after_name = file.read_text().rpartition(")")[2].split()
            ticks = int(after_name[11]) + int(after_name[12])
            found[int(file.parent.name)] = int(after_name[1]), ticks / os.sysconf("SC_CLK_TCK")
    return found


def _children(pid: int) -> set[int]:
    return {child for child, (parent, _) in _processes().items() if parent == pid}


def _cpu_seconds(pid: int) -> float:
    """Return the processor seconds of the process and of all below it that run now."""
    processes = _processes()
    below = [child for child, (parent, _) in processes.items() if parent == pid]
    return processes[pid][1] + sum(map(_cpu_seconds, below))


def _ask(client: httpx.Client, worker: "Worker", topic: str, profile: str) -> float:
    body = {"agent": worker.agent.slug, "team": worker.team.slug, "profile": profile, "topic": topic}
    started = time.perf_counter()
    answer = client.post("/api/v1/assemblies", json=body)
    spent = (time.perf_counter() - started) * 1000
    answer.raise_for_status()
    return spent


def _check_encrypted(requests: int) -> None:
    """What is measured is what it says: one half of the records is encrypted, and can be read."""
    from assembly.models import Assembly
    from assembly.models.assembly import ENCRYPTED_FORMAT
    from assembly.records.reader import load_record, replay

    records = list(Assembly.objects.order_by("-created")[: 2 * requests])
    encrypted = [one for one in records if bytes(one.body[:1]) == ENCRYPTED_FORMAT]
    assert len(encrypted) == requests, len(encrypted)
    assert all(replay(load_record(one)).identical for one in itertools.islice(encrypted, 5))
