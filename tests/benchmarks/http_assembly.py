"""Assemblies over HTTP: requests to the real server, with and without a topic, from one and from several clients.

DATA=folder takes the conversations from there; each is imported into an agent of its own, and `now` is the day after
its last session.

`two_processes_32_clients_…` is a minute of requests without a topic to two web processes, each for a moment that nobody
asked for; `cached_two_processes_…` is the same where the cache may answer. The load comes from one process beside them,
on the same machine: `…_load_cost` is what one request costs there. Elsewhere, httpx in threads asks.
"""

import datetime
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.benchmarks.conversations import conversations, last_session, questions
from tests.benchmarks.figures import figure

NAME = "http_assembly"
REQUESTS = 300
CLIENTS = (1, 8, 32)
PROCESSES, MOST = 2, 32
SECONDS, WARM_SECONDS = 60, 5

_asked = itertools.count(1)


def run() -> None:
    """Print latency (milliseconds) and requests per second."""
    folder = Path(os.environ["DOSSIER_DATA_DIR"])
    with served() as address:
        files = conversations(folder)
        for number, file in enumerate(files):
            manage("import_conversation", str(file), "--agent", f"agent-{number}")
        key = manage("create_api_key", "--admin").split()[-1]
        asked = {"topic": bodies(files, topics=True), "no_topic": bodies(files, topics=False)}
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
            _check(client, asked["topic"][:25])
            for kind, clients in itertools.product(asked, CLIENTS):
                _measure(client, kind, asked[kind], clients)
    with served("--processes", str(PROCESSES)) as address:
        for name, anew in (("", True), ("cached_", False)):
            _load(address, f"{name}two_processes_{MOST}_clients", key, asked["no_topic"], anew=anew)


def bodies(files: list[Path], *, topics: bool) -> list[dict[str, Any]]:
    """Requests that go round the agents; each asks one of the conversation's questions."""
    per_agent = [
        [
            {
                "agent": f"agent-{number}",
                "topic": question if topics else "",
                "now": (last_session(file) + datetime.timedelta(days=1)).isoformat(),
            }
            for question in questions(file)[: REQUESTS // len(files)]
        ]
        for number, file in enumerate(files)
    ]
    return [body for together in zip(*per_agent, strict=False) for body in together]


def _check(client: httpx.Client, bodies: list[dict[str, Any]]) -> None:
    """The contexts that are measured hold what they should: at most 16,000 tokens, daily logs and memories."""
    for body in bodies:
        answer = client.post("/api/v1/assemblies", json=body)
        answer.raise_for_status()
        tokens = {section["layer"]: section["tokens"] for section in answer.json()["sections"]}
        assert answer.json()["tokens"] <= 16_000, answer.json()["tokens"]
        assert tokens["L3"], tokens
        assert tokens["L5"], tokens


def _asked_anew(body: dict[str, Any]) -> dict[str, Any]:
    """The request for a moment that nobody asked for: what is measured is assembling, not the cache."""
    moment = datetime.datetime.fromisoformat(body["now"]) + datetime.timedelta(microseconds=next(_asked))
    return {**body, "now": moment.isoformat()}


def _measure(client: httpx.Client, kind: str, bodies: list[dict[str, Any]], clients: int) -> None:
    def post(body: dict[str, Any]) -> float:
        started = time.perf_counter()
        client.post("/api/v1/assemblies", json=body).raise_for_status()
        return (time.perf_counter() - started) * 1000

    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        took = sorted(pool.map(post, map(_asked_anew, bodies)))
    per_second = len(took) / (time.perf_counter() - started)
    name = f"{kind}_{clients}_clients"
    figure(NAME, f"{name}_p50", statistics.median(took), "ms", len(took))
    figure(NAME, f"{name}_p95", took[int(len(took) * 0.95)], "ms", len(took))
    figure(NAME, f"{name}_rate", per_second, "1/s", len(took))


def _load(address: str, name: str, key: str, bodies: list[dict[str, Any]], *, anew: bool) -> None:
    """Print what came of a minute under load."""
    given = {"key": key, "bodies": bodies, "anew": anew}
    _under_load(address, WARM_SECONDS, given)
    went = _under_load(address, SECONDS, given)
    took = sorted(went["took"])
    figure(NAME, f"{name}_rate", len(took) / went["seconds"], "1/s", len(took))
    figure(NAME, f"{name}_p50", statistics.median(took), "ms", len(took))
    figure(NAME, f"{name}_p95", took[int(len(took) * 0.95)], "ms", len(took))
    figure(NAME, f"{name}_errors", went["errors"], "count", len(took))
    figure(NAME, f"{name}_load_cost", went["own"], "ms", len(took))


def _under_load(address: str, seconds: int, given: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.load", address, str(MOST), str(seconds)]
    finished = subprocess.run(command, input=json.dumps(given), check=True, stdout=subprocess.PIPE, text=True)
    went: dict[str, Any] = json.loads(finished.stdout)
    return went


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The real server on a free port, for as long as the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "manage.py", "serve", "--port", str(port), *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait(address := f"http://127.0.0.1:{port}", server)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=60)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if server.poll() is not None:
            sys.exit("the server stopped by itself")
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    sys.exit("the server did not answer within a minute")


def manage(*arguments: str) -> str:
    """What the management command printed."""
    finished = subprocess.run([sys.executable, "manage.py", *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return finished.stdout
