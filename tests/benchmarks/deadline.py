"""Deadlines: requests of 300 ms, 8 at a time, while one source never answers.

First an external source sleeps for 30 s, then a lock lets a source of the database hang. In both cases the same profile
is asked before, with nobody hanging, by the same deadline and also 8 at a time: `p50_empty_ms` is the median of that. A
request is answered in time if it took at most 300 ms and that median; `answered_in_time` is their share, `p99_ms` the
99th percentile of all, and `p99_empty_ms` that of the requests with nobody hanging: what is too late there, too, is the
machine's doing. `only_it_missing` is the share of the contexts in which no other source was late. `left_behind` counts
what there is a moment later: threads of the web processes and connections to the database that were not there before,
and queries and transactions under way, but for the worker's waiting for messages.
Times are the client's, which runs on the same machine.
"""

import datetime
import itertools
import os
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import NamedTuple

import django
import httpx

from tests.benchmarks.conversations import conversations, last_session, questions
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served

NAME = "deadline"
TIME_MS = 300
REQUESTS, CLIENTS = 100, 8
CODING = Path("assembly/profiles/shipped/coding.yaml")
PATIENCE_SECONDS = 10
TICKETS = "  - {key: tickets, heading: Tickets, layer: L6, source: external, shape: blocks, cap: 500}\n"
NEIGHBOUR = "  # What goes on over several sessions"

ACTIVITY = """
SELECT count(*), count(*) FILTER (WHERE state <> 'idle') FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        AND query NOT LIKE '%pgmq.read_with_poll%'
"""


def run() -> None:
    """Print the figures of both cases."""
    os.environ["EXTERNAL_ALLOWED_NETWORKS"] = "127.0.0.0/8"
    folder = Path(os.environ["DOSSIER_DATA_DIR"])
    with served() as address:
        file = conversations(folder)[0]
        manage("import_conversation", str(file), "--agent", "agent-0")
        key = manage("create_api_key", "--admin").split()[-1]
        django.setup()
        from tests.assembly.failing_sources import locked
        from tests.http_endpoints import Handler, giving, serving

        asleep = Event()

        def behave(handler: Handler) -> None:
            handler.wait_until_gone(30) if asleep.is_set() else giving({"results": []})(handler)

        headers = {"Authorization": f"Bearer {key}"}
        with serving(behave) as endpoint, httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            _fill(file, endpoint.url)
            _report("external", "external:tickets", _Asking(client, file, "hurried"), _set(asleep))
            _report("locked", "patterns", _Asking(client, file, "coding"), locked("patterns"))


def _fill(file: Path, url: str) -> None:
    """Give the agent everything that a context can be made of, and a profile that asks the endpoint, too."""
    from agents.models import Agent
    from assembly.models import StoredProfile
    from assembly.sources.external.services import ExternalSourceConfig, external_source_create
    from teams.principal import SYSTEM
    from teams.versioned_text.versioned_file import file_create
    from tests.assembly.large_agent import analyse, fill

    fill(Agent.objects.get(slug="agent-0"), last_session(file))
    analyse()
    facts = ExternalSourceConfig("Tickets", url, timeout_ms=10_000)
    external_source_create(name="tickets", facts=facts, secret="", principal=SYSTEM)
    coding = CODING.read_text(encoding="utf-8").replace("name: coding", "name: hurried")
    content = coding.replace(NEIGHBOUR, TICKETS + NEIGHBOUR)
    file_create(file=StoredProfile(name="hurried", content=content), author=SYSTEM.author)


@contextmanager
def _set(asleep: Event) -> Iterator[None]:
    asleep.set()
    yield
    asleep.clear()


@dataclass(frozen=True, slots=True)
class _Asking:
    """One client of the server, which asks for contexts of one profile."""

    client: httpx.Client
    file: Path
    profile: str

    def ask(self, clients: int = CLIENTS) -> tuple[list[float], list[set[str]]]:
        """How long each request took, in milliseconds, shortest first; and the sources that were late for each."""
        with ThreadPoolExecutor(clients) as pool:
            answers = list(pool.map(self._ask, range(REQUESTS)))
        return sorted(took for took, _ in answers), [late for _, late in answers]

    def _ask(self, number: int) -> tuple[float, set[str]]:
        # For a moment that nobody asked for: what is measured is assembling, not the cache.
        moment = last_session(self.file) + datetime.timedelta(days=1, microseconds=next(_moments))
        asked = questions(self.file)
        body = {"agent": "agent-0", "profile": self.profile, "topic": asked[number % len(asked)]}
        started = time.perf_counter()
        answer = self.client.post(
            "/api/v1/assemblies", json={**body, "now": moment.isoformat(), "budgets": {"time_ms": TIME_MS}}
        )
        took = (time.perf_counter() - started) * 1000
        answer.raise_for_status()
        return took, {source["name"] for source in answer.json()["metadata"]["sources"] if source["code"]}


_moments = itertools.count(1)


def _report(case: str, name: str, asking: _Asking, hanging: AbstractContextManager[None]) -> None:
    """Print the figures of one case, in which the source of that name hangs."""
    asking.ask(2 * CLIENTS)  # from now on, everything is warm, and the pools of threads and connections have their size
    before = _in_use()
    whole = asking.ask()[0]
    empty = statistics.median(whole)
    with hanging:
        took, late = asking.ask()
    assert all(late), "it never answers"
    in_time = sum(one <= TIME_MS + empty for one in took) / len(took)
    figure(NAME, f"{case}_answered_in_time", in_time, "share", len(took))
    figure(NAME, f"{case}_p99_ms", took[int(len(took) * 0.99) - 1], "ms", len(took))
    figure(NAME, f"{case}_p50_empty_ms", empty, "ms", len(whole))
    figure(NAME, f"{case}_p99_empty_ms", whole[int(len(whole) * 0.99) - 1], "ms", len(whole))
    figure(NAME, f"{case}_only_it_missing", sum(names == {name} for names in late) / len(late), "share", len(late))
    figure(NAME, f"{case}_left_behind", _left_behind(before), "count", len(took))


def _left_behind(before: tuple[int, int]) -> int:
    """How many threads and connections more than before, and how many that are busy, once no more of them go."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while (left := _more_than(before)) and time.monotonic() < ends:
        time.sleep(0.1)
    return left


def _more_than(before: tuple[int, int]) -> int:
    busy = _activity()[1]
    return busy + sum(max(0, now - then) for now, then in zip(_in_use(), before, strict=True))


def _in_use() -> tuple[int, int]:
    """The threads of the web processes, and the connections to the database."""
    return _threads_of_server(), _activity()[0]


def _activity() -> tuple[int, int]:
    """Connections, and those with a query or a transaction under way."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(ACTIVITY)
        connections, busy = cursor.fetchone()
        return connections, busy


def _threads_of_server() -> int:
    """Of all web processes of the server that this process started."""
    servers = {process for process in _running() if process.parent == os.getpid() and b"serve" in process.arguments}
    assert servers, "the server is gone"
    pids = {server.pid for server in servers}
    return sum(process.threads for process in _running() if process.parent in pids and b"web" in process.arguments)


class _Process(NamedTuple):
    """A process of this machine."""

    pid: int
    parent: int
    threads: int
    arguments: tuple[bytes, ...]


def _running() -> Iterator[_Process]:
    """All processes; those that end while they are looked at are passed over."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            lines = (folder / "status").read_text().splitlines()
            facts = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
            arguments = tuple((folder / "cmdline").read_bytes().split(b"\0"))
            yield _Process(int(folder.name), int(facts["PPid"]), int(facts["Threads"]), arguments)
