"""1,000,000 memories are moved into partitions under load, and killed five times; ROWS=100000 has fewer.

The memories are those of `growth`: of 1,000 agents, the first 50,000 with vectors. Two clients search and two write
over HTTP meanwhile. A copy of the database stays undivided. Afterwards, searches of one agent are measured in both, by
turns, in CPU time of the process and of its session in PostgreSQL, because wall-clock times, and any times that are far
apart, would depend on what else the machine does.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import django
import httpx

from config.postgres.data_folder import ADMIN, DATABASE, DataFolder
from tests.benchmarks import growth
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served

if TYPE_CHECKING:
    from agents.models import Agent

NAME = "partitions"
ROWS = 1_000_000
KILLS = 5
WARM, TIMES, ROUNDS = 20, 100, 7
UNDIVIDED = "undivided"
COMMAND = [sys.executable, "manage.py", "partition_tables"]
HASH = """
SELECT count(*), count(DISTINCT id), sum(hashtextextended(row(id, agent_id, kind, text, embedding, created)::text, 0))
FROM memories WHERE agent_id <> ALL(%s::uuid[])
"""


def run() -> None:
    """Print failed requests, lost and repeated rows, the time of the lock, and the ratio of the cost of searches."""
    rows = int(os.environ.get("ROWS", ROWS))
    manage("migrate", "--verbosity", "0")
    django.setup()
    from agents.models import Agent

    agents = Agent.objects.bulk_create(
        Agent(slug=f"agent-{place}", name=f"Agent {place}") for place in range(growth.AGENTS)
    )
    writers = [Agent.objects.create(slug=f"writer-{place}", name=f"Writer {place}") for place in range(2)]
    growth._grow("all", agents, 0, rows)
    key = manage("create_api_key", "--admin").split()[-1]
    before = _rows_of_others(writers)
    _copy_database()
    with served() as address:
        load = _Load(address, key, writers, agents[0])
        began = time.perf_counter()
        with load.running():
            _move_and_kill()
            printed = manage("partition_tables")
        took = time.perf_counter() - began
    after = _rows_of_others(writers)
    figure(NAME, "moved_in", took, "s", rows)
    figure(NAME, "lock_ms", float(printed.rpartition(" for ")[2].partition(" ms")[0]), "ms", 1)
    figure(NAME, "requests", load.done, "requests", load.done)
    figure(NAME, "failed", len(load.failed), "requests", load.done)
    for failure in load.failed[:3]:
        print(failure, file=sys.stderr)
    there = _ids_of(writers)
    lost = before[0] - after[1] + len(load.there - {*there})
    figure(NAME, "lost", lost, "rows", rows)
    figure(NAME, "twice", after[0] - after[1] + len(there) - len({*there}), "rows", rows)
    figure(NAME, "others_unchanged", float(before == after and {*there} == load.there), "ratio", rows)
    undivided, divided = _search_costs(agents[0])
    figure(NAME, "search_cpu_undivided", undivided * 1000, "ms", TIMES * ROUNDS)
    figure(NAME, "search_cpu_divided", divided * 1000, "ms", TIMES * ROUNDS)
    figure(NAME, "search_cost_ratio", divided / undivided, "ratio", TIMES * ROUNDS)


def _move_and_kill() -> None:
    chance = random.Random()
    longest = float(os.environ.get("LONGEST", "40"))
    for number in range(KILLS):
        moment = chance.uniform(5, longest)
        with subprocess.Popen(COMMAND, stdout=subprocess.DEVNULL) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moment)
                sys.exit(f"the move ended before it was killed for the {number + 1}. time; set LONGEST lower")
            process.send_signal(signal.SIGKILL)
        figure(NAME, f"killed_after_{number + 1}", moment, "s", 1)


class _Load:
    """Two clients that search, two that create, change and delete memories; `failed` has their errors."""

    def __init__(self, address: str, key: str, writers: "list[Agent]", searched: "Agent") -> None:
        self.client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
        self.writers, self.searched = writers, searched
        self.done, self.failed, self.there = 0, list[Any](), set[str]()
        self.ended = Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        jobs: list[Callable[[], None]] = [self._search, self._search]
        jobs += [lambda slug=writer.slug: self._write(slug) for writer in self.writers]  # type: ignore[misc]
        with ThreadPoolExecutor(len(jobs)) as pool:
            running = [pool.submit(job) for job in jobs]
            try:
                yield
            finally:
                self.ended.set()
            for one in running:
                one.result()

    def _ask(self, method: str, path: str, expected: int, body: Any = None, **headers: str) -> Any:
        self.done += 1
        try:
            answer = self.client.request(method, f"/api/v1/{path}", json=body, headers=headers)
        except httpx.HTTPError as error:
            self.failed.append(error)
            return None
        if answer.status_code != expected:
            self.failed.append((answer.status_code, answer.text))
            return None
        return answer.json() if answer.content else {}

    def _search(self) -> None:
        while not self.ended.is_set():
            words = growth._text(6).replace(" ", "+")
            self._ask("GET", f"agents/{self.searched.slug}/memories/search?q={words}&limit=20", 200)
            self._ask("POST", "assemblies", 201, {"agent": self.searched.slug, "topic": growth._text(6)})

    def _write(self, slug: str) -> None:
        path = f"agents/{slug}/memories"
        while not self.ended.is_set():
            text = growth._text(20)
            made = self._ask("POST", path, 201, {"kind": "fact", "text": text})
            gone = self._ask("POST", path, 201, {"kind": "fact", "text": text})
            if made:
                self.there.add(made["id"])
                changed = {"text": f"{text} And so on."}
                self._ask("PATCH", f"{path}/{made['id']}", 200, changed, **{"If-Match": '"1"'})
            if gone and self._ask("DELETE", f"{path}/{gone['id']}", 204) is None:
                self.there.add(gone["id"])


def _rows_of_others(writers: "list[Agent]") -> tuple[Any, ...]:
    from config.db.statements import fetch_rows

    return fetch_rows(HASH, [[writer.pk for writer in writers]])[0]


def _ids_of(writers: "list[Agent]") -> list[str]:
    from config.db.statements import fetch_rows

    sql = "SELECT id::text FROM memories WHERE agent_id = ANY(%s::uuid[])"
    return [id_ for (id_,) in fetch_rows(sql, [[writer.pk for writer in writers]])]


def _copy_database() -> None:
    """Copy the database as it is now, undivided, to UNDIVIDED."""
    import psycopg

    folder = DataFolder(Path(os.environ["DOSSIER_DATA_DIR"]))
    _use_database(DATABASE)
    with psycopg.connect(folder.conninfo(ADMIN, "postgres", password=folder.password(ADMIN)), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {UNDIVIDED} TEMPLATE {DATABASE} STRATEGY FILE_COPY")


def _use_database(name: str) -> None:
    """Close this process's connections; the next ones are to the database of this name."""
    from django.db import connections

    for wrapper in connections.all():
        wrapper.close()
        if wrapper.settings_dict.get("OPTIONS", {}).get("pool"):
            wrapper.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
        wrapper.settings_dict["NAME"] = name


def _search_costs(agent: "Agent") -> list[float]:
    """Return the CPU seconds of a search, of this process and of PostgreSQL, in the undivided and the divided database:
    the least of some rounds.
    """
    question = _searches(agent)
    rounds = [[_search_cost(name, question) for name in (UNDIVIDED, DATABASE)] for _ in range(ROUNDS)]
    return [min(costs) for costs in zip(*rounds, strict=True)]


def _search_cost(database: str, question: Callable[[], None]) -> float:
    from config.db.statements import fetch_rows

    _use_database(database)
    for _ in range(WARM):
        question()
    ((backend,),) = fetch_rows("SELECT pg_backend_pid()")
    began = time.process_time() + _cpu_of(backend)
    for _ in range(TIMES):
        question()
    return (time.process_time() + _cpu_of(backend) - began) / TIMES


def _cpu_of(pid: int) -> float:
    """Return the CPU seconds of the process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _searches(agent: "Agent") -> Callable[[], None]:
    from assembly.profiles.rankers import RANKERS
    from assembly.sources.memories import search_weights
    from memories.search.memory_search import search_memories, topic_vector
    from memories.search.question import parse_question

    weights = search_weights(RANKERS["default"])

    def search() -> None:
        topic = growth._text(6)
        question = parse_question(topic, topic_vector(topic), growth.NOW.date())
        search_memories(owner=agent, question=question, weights=weights, limit=20, recent=5)

    return search
