"""The memory contract over HTTP: `POST /memory/assemble` with a topic, from one client and from eight.

The agent has 10,000 memories (sentences that people wrote), in a team with 200, and 10,000 events, a graph, documents,
patterns, threads and tools, and the organisation has a file, so that every scope has something; the agent has some long
memories, so that there are levels of detail. Each request has a new topic. Requests of the contract
alternate with `POST /assemblies` on topics of the same kind, with the profile `conversation` and with `memory`; all
ways are asked by the same clients in the same minutes, each client over a connection of its own. SIZES=1k and
REQUESTS=60 take less time.

`memory_assemble_p50_ms` and `memory_assemble_p95_ms` are with eight clients, `…_1_client` with one. `ratio` is our
median with eight clients divided by that of `POST /assemblies` with `conversation`, `ratio_memory` with `memory`.
"""

import itertools
import os
import statistics
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import django
import httpx

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served
from tests.benchmarks.turn import filled_workers

if TYPE_CHECKING:
    from tests.benchmarks.turn import Worker

NAME = "memory_assemble"
REQUESTS, WARM = 200, 12
"""Requests in each way and with each number of clients; those before, which are not measured."""
CLIENTS = (1, 8)
LONG_MEMORIES, SENTENCES = 50, 12
OURS, CONVERSATION, MEMORY = "memory_assemble", "assemblies_conversation", "assemblies_memory"
Ask = tuple[str, str, dict[str, Any]]
"""A way of asking, its address, and a body."""


def run() -> None:
    """Print latency (milliseconds) and ratios."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    (worker,) = filled_workers([os.environ.get("SIZES", "10k")])
    _remember_at_length(worker)
    run_workers()
    requests = int(os.environ.get("REQUESTS", REQUESTS))
    key = manage("create_api_key", "--agent", worker.agent.slug).split()[-1]
    with served() as address:
        new_client = partial(httpx.Client, base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        asks = _asks(worker)
        with new_client() as client:
            _check(client, worker, next(worker.topics))
        for number in CLIENTS:
            with ExitStack() as opened:
                clients = [opened.enter_context(new_client()) for _ in range(number)]
                _took(clients, itertools.islice(asks, 3 * WARM))
                _report(_took(clients, itertools.islice(asks, 3 * requests)), number)


def _remember_at_length(worker: "Worker") -> None:
    """Store memories of several sentences."""
    from memories.services import MemoryFacts, memories_create
    from teams.principal import SYSTEM

    texts = [" ".join(itertools.islice(worker.lines, SENTENCES)) for _ in range(LONG_MEMORIES)]
    memories_create(owner=worker.agent, facts=[MemoryFacts(kind="fact", text=text) for text in texts], principal=SYSTEM)


def run_workers() -> None:
    """Do what workers do after every write and in every hour, until nothing is left to do: a worker that catches up
    with what was filled in would be measured, too.
    """
    from assembly.conflicts.find import noted_conflicts_find
    from assembly.pipeline.level_derivation import levels_derive_all, noted_levels_derive
    from memories.embeddings.file_splitting import split_missing
    from memories.jobs.execution import job_run
    from memories.lifecycle.hourly_run import lifecycle_job_create
    from memories.models import Job
    from teams.principal import SYSTEM

    waiting = [*filter(None, [split_missing(agent=None, principal=SYSTEM)]), *levels_derive_all()]
    lifecycle_job_create()
    while waiting:
        for job in waiting:
            job_run(job_id=job.id)
        noted_levels_derive()
        noted_conflicts_find()
        waiting = list(Job.objects.filter(status="queued").order_by("created"))


def _asks(worker: "Worker") -> Iterator[Ask]:
    """Yield requests, in the three ways in turn, each on a topic of its own."""
    whose = {"agent": worker.agent.slug, "team": worker.team.slug}
    while True:
        yield OURS, "/api/v1/memory/assemble", _request(worker, next(worker.topics))
        for way, profile in ((CONVERSATION, "conversation"), (MEMORY, "memory")):
            yield way, "/api/v1/assemblies", {**whose, "profile": profile, "topic": next(worker.topics)}


def _request(worker: "Worker", topic: str) -> dict[str, Any]:
    return {"request_id": str(uuid.uuid4()), "intent": topic, "team": worker.team.slug, "lod_preference": "adaptive"}


def _check(client: httpx.Client, worker: "Worker", topic: str) -> None:
    """What is measured is a whole answer: of every scope that there is, without a warning, its tokens exact."""
    answer = client.post("/api/v1/memory/assemble", json=_request(worker, topic))
    answer.raise_for_status()
    metadata, fragments = answer.json()["metadata"], answer.json()["fragments"]
    layers = Counter(fragment["layer"] for fragment in fragments)
    assert {"L1", "L2", "L3", "L4"} <= layers.keys(), layers
    assert sum(fragment["token_cost"] for fragment in fragments) == metadata["total_tokens"] <= 16_000
    assert {warning["code"] for warning in metadata["warnings"]} <= {"BUDGET_EXCEEDED"}, metadata["warnings"]
    figure(NAME, "fragments", len(fragments), "count", 1)
    figure(NAME, "answer_size", len(answer.content) / 1000, "kB", 1)


def _took(clients: Sequence[httpx.Client], asks: Iterator[Ask]) -> dict[str, list[float]]:
    """Return the milliseconds of each request by its way, shortest first. A free client sends the next request."""
    free = SimpleQueue[httpx.Client]()
    for client in clients:
        free.put(client)

    def ask(one: Ask) -> tuple[str, float]:
        way, path, body = one
        client = free.get()
        started = time.perf_counter()
        client.post(path, json=body).raise_for_status()
        milliseconds = (time.perf_counter() - started) * 1000
        free.put(client)
        return way, milliseconds

    took = defaultdict(list)
    with ThreadPoolExecutor(len(clients)) as pool:
        for way, milliseconds in pool.map(ask, list(asks)):
            took[way].append(milliseconds)
    return {way: sorted(all_of_it) for way, all_of_it in took.items()}


def _report(took: dict[str, list[float]], clients: int) -> None:
    suffix = "" if clients == max(CLIENTS) else f"_{clients}_client"
    for way, times in took.items():
        figure(NAME, f"{way}_p50_ms{suffix}", statistics.median(times), "ms", len(times))
        figure(NAME, f"{way}_p95_ms{suffix}", times[int(len(times) * 0.95)], "ms", len(times))
    ours = statistics.median(took[OURS])
    for name, other in (("ratio", CONVERSATION), ("ratio_memory", MEMORY)):
        figure(NAME, name + suffix, ours / statistics.median(took[other]), "ratio", len(took[OURS]))
