"""The caches under a mixed load: a minute of 5,000 agents' requests, with writes between them, on two web processes.

Agents and topics are chosen by Zipf's law: the first of 5,000 agents asks most, and each has three topics of its own.
RATE requests and writes per second are begun, one in twenty is a write, and one in ten of these is to a team, which has
250 agents. Writes are of every kind that an agent makes (KINDS). So an answer is lost to a write, to its lifetime of 30
seconds, or to the process that does not have it.
The same minute is repeated with answers shared by PostgreSQL, by Redis (where the program `redis-server` is), and not
at all (`not_shared_…`). AGENTS, RATE and SECONDS change the numbers.

`hit_ratio`: of the requests for a question that was answered before in this minute, the share that was answered from a
cache, the process's or the shared one. `shared_hits`: how many of these came from the shared one.
`stale`: hits that differ from a fresh assembly. Each hit is followed by the same request for the moment of its answer,
in this process, in which all caches are switched off (UNCACHED); the texts must be equal byte for byte. Nobody writes
to the agent or its team in between; where a background job did, so that a change counter moved, the hit is one of
`not_comparable`. `hit_p50`, `fresh_p50`: milliseconds of both. `shared_mb` and `shared_used`: the memory of the shared
cache at the end, and its share of the limit.
"""

import datetime
import itertools
import json
import os
import random
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import django
import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served
from tests.benchmarks.many_contexts import WORDS
from tests.scaling.debian_servers import redis

NAME = "cache_mix"
AGENTS, TEAMS, MEMORIES, TOPICS = int(os.environ.get("AGENTS", "5000")), 20, 6, 3
RATE, SECONDS, WARM_SECONDS = float(os.environ.get("RATE", "25")), int(os.environ.get("SECONDS", "60")), 5
CLIENTS, PROCESSES = 16, 2
WRITES, WRITES_TO_TEAM = 0.05, 0.1
BATCH = 250
TIME_MS = 20_000
UNCACHED = {"PROCESS_CACHES": "off", "SHARED_CACHE_BYTES": "0", "DISK_CACHE_BYTES": "0", "PREASSEMBLY": "off"}
KINDS = ("memory", "event", "entity", "pattern", "thread", "tool", "task", "rule", "file", "log")
"""The kinds of writes to an agent; to a team, memories and files are written."""
UNLIMITED = {"QUOTA_REQUESTS_PER_MINUTE": "0", "QUOTA_RECORD_BYTES_PER_DAY": "0"}


def run() -> None:
    """Print the figures of each way to share answers."""
    os.environ.update(UNLIMITED)
    with served():
        key = manage("create_api_key", "--admin").split()[-1]
        with _environment(UNCACHED):
            django.setup()
        owners = _fill()
    _measure("", {}, key, owners)
    if shutil.which("redis-server"):
        with redis() as address:
            _measure("redis_", {"CACHE_URL": address}, key, owners)
    _measure("not_shared_", {"SHARED_CACHE_BYTES": "0"}, key, owners)


def _fill() -> list[list["Any"]]:
    """Create teams and agents with memories. Return the change counters' owners of each agent."""
    from django.db import transaction

    from agents.models import Agent, AgentFile, AgentTeam
    from memories.embeddings.vectors import embed_rows
    from memories.models import Memory
    from teams.principal import SYSTEM
    from teams.services import team_create

    chance = random.Random(1)
    teams = [team_create(slug=f"team-{number}", name=f"Team {number}", principal=SYSTEM) for number in range(TEAMS)]
    agents = Agent.objects.bulk_create(
        Agent(slug=f"agent-{number}", name=f"Agent {number}") for number in range(AGENTS)
    )
    AgentFile.objects.bulk_create(
        AgentFile(agent=agent, file_key=key, content=_text(chance, 60)) for agent in agents for key in AgentFile.Key
    )
    AgentTeam.objects.bulk_create(
        AgentTeam(agent=agent, team=teams[number % TEAMS]) for number, agent in enumerate(agents)
    )
    for batch in (agents[start : start + BATCH] for start in range(0, AGENTS, BATCH)):
        rows = [Memory(agent=agent, kind="fact", text=_text(chance, 20)) for agent in batch for _ in range(MEMORIES)]
        with transaction.atomic():
            embed_rows(rows)
            Memory.objects.bulk_create(rows)
    return [[agent.id, teams[number % TEAMS].id] for number, agent in enumerate(agents)]


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def _measure(name: str, settings: dict[str, str], key: str, owners: list[list[Any]]) -> None:
    with _environment(settings), served("--processes", str(PROCESSES)) as address:
        _Mix(address, key, owners, f"warm {name}").run(WARM_SECONDS)
        at_begin = _metrics(address)
        mix = _Mix(address, key, owners, name)
        mix.run(SECONDS)
        mix.report(name, at_begin, _metrics(address))


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set the variables within the block."""
    before = {variable: os.environ.get(variable) for variable in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for variable, value in before.items():
            os.environ.pop(variable)
            if value is not None:
                os.environ[variable] = value


def _metrics(address: str) -> dict[str, float]:
    """Return what `/metrics` tells of the shared cache."""
    found = {}
    for family in text_string_to_metric_families(httpx.get(f"{address}/metrics").raise_for_status().text):
        for sample in family.samples:
            if sample.labels.get("tier") == "shared":
                found[f"{sample.name} {sample.labels.get('result', '')}".strip()] = sample.value
    return found


@dataclass(frozen=True, slots=True)
class _Step:
    """What happens at one moment: a request, or a write to the agent or to its team."""

    agent: int
    topic: int
    writes_to: str = ""


@dataclass(slots=True)
class _Counts:
    """What came of the requests; times in milliseconds."""

    hit_ms: list[float] = field(default_factory=list)
    fresh_ms: list[float] = field(default_factory=list)
    requests: int = 0
    repeated: int = 0
    repeated_hits: int = 0
    writes: int = 0
    stale: int = 0
    not_comparable: int = 0


class _SharedLock:
    """A lock that many may hold at once, or one alone."""

    def __init__(self) -> None:
        self._condition, self._holders = threading.Condition(), 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._condition:
            self._holders += 1
        try:
            yield
        finally:
            with self._condition:
                self._holders -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._holders)
            yield


class _Mix:
    """The load: its clients, and the questions that were answered."""

    def __init__(self, address: str, key: str, owners: list[list[Any]], name: str) -> None:
        self._clients = [
            httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
            for _ in range(CLIENTS)
        ]
        self._free = list(self._clients)
        self._owners, self._name = owners, name
        self._agents = [threading.Lock() for _ in owners]
        self._teams = [_SharedLock() for _ in range(TEAMS)]
        self._answered: set[tuple[int, int]] = set()
        self._lock, self.counts = threading.Lock(), _Counts()

    def run(self, seconds: float) -> None:
        """Begin RATE steps per second for so long, and wait for their ends."""
        begun = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as pool:
            ends = []
            for number, step in enumerate(_steps(int(RATE * seconds))):
                time.sleep(max(0.0, begun + number / RATE - time.monotonic()))
                ends.append(pool.submit(self._do, step))
            for end in ends:
                end.result()
        for client in self._clients:
            client.close()

    def report(self, name: str, before: dict[str, float], after: dict[str, float]) -> None:
        """Print the figures."""
        counts = self.counts
        figure(NAME, f"{name}hit_ratio", counts.repeated_hits / counts.repeated, "ratio", counts.repeated)
        figure(NAME, f"{name}stale", counts.stale, "count", len(counts.hit_ms))
        figure(NAME, f"{name}not_comparable", counts.not_comparable, "count", len(counts.hit_ms))
        hits = "memory_cache_tier_lookups_total hit"
        figure(NAME, f"{name}shared_hits", after.get(hits, 0) - before.get(hits, 0), "count", len(counts.hit_ms))
        figure(NAME, f"{name}hit_p50", statistics.median(counts.hit_ms), "ms", len(counts.hit_ms))
        figure(NAME, f"{name}fresh_p50", statistics.median(counts.fresh_ms), "ms", len(counts.fresh_ms))
        figure(NAME, f"{name}writes", counts.writes, "count", counts.requests + counts.writes)
        if "memory_utilisation_ratio" in after:
            figure(NAME, f"{name}shared_mb", after["memory_cache_bytes"] / 1e6, "MB", 1)
            figure(NAME, f"{name}shared_used", after["memory_utilisation_ratio"], "ratio", 1)

    def _do(self, step: _Step) -> None:
        from django.db import connections

        team = self._teams[step.agent % TEAMS]
        with self._lock:
            client = self._free.pop(0)  # in turn, so that both processes are asked
        try:
            with ExitStack() as held:
                if step.writes_to == "team":
                    held.enter_context(team.alone())
                else:
                    held.enter_context(self._agents[step.agent])
                    held.enter_context(nullcontext() if step.writes_to else team.shared())
                if step.writes_to:
                    self._write(client, step)
                else:
                    self._ask(client, step)
        finally:
            connections.close_all()
            with self._lock:
                self._free.append(client)

    def _write(self, client: httpx.Client, step: _Step) -> None:
        owner = f"teams/team-{step.agent % TEAMS}" if step.writes_to == "team" else f"agents/agent-{step.agent}"
        text = _text(random.Random(), 20)
        with self._lock:
            number, self.counts.writes = self.counts.writes, self.counts.writes + 1
        kind = KINDS[number % len(KINDS)] if step.writes_to == "agent" else ("memory", "file")[number % 2]
        if kind == "memory":
            client.post(f"/api/v1/{owner}/memories", json={"kind": "fact", "text": text}).raise_for_status()
        else:
            _write_row(kind, step, text)

    def _ask(self, client: httpx.Client, step: _Step) -> None:
        topic = f"{self._name}{WORDS[(step.agent * TOPICS + step.topic) % len(WORDS)]} {WORDS[step.topic]}"
        body = {"agent": f"agent-{step.agent}", "team": f"team-{step.agent % TEAMS}", "topic": topic}
        before = self._changes(step)
        answer, took = _assembled(client, body)
        is_hit = answer["repeat_of_id"] is not None
        with self._lock:
            is_repeated = (step.agent, step.topic) in self._answered
            self._answered.add((step.agent, step.topic))
            self.counts.requests += 1
            self.counts.repeated += is_repeated
            self.counts.repeated_hits += is_repeated and is_hit
            (self.counts.hit_ms if is_hit else self.counts.fresh_ms).append(took)
        if is_hit:
            fresh = _assembled_without_caches(body, answer["now"])
            is_comparable = self._changes(step) == before
            is_same = fresh.encode() == answer["content"].encode()
            with self._lock:
                self.counts.stale += is_comparable and not is_same
                self.counts.not_comparable += not is_comparable

    def _changes(self, step: _Step) -> tuple[int, ...]:
        from assembly.records.change_counters import load_change_counts
        from config.db.migration_helpers import ORGANISATION

        return load_change_counts(*self._owners[step.agent], ORGANISATION)


def _assembled(client: httpx.Client, body: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Return the answer, and how many milliseconds it took."""
    started = time.perf_counter()
    answer = client.post("/api/v1/assemblies", json=body)
    took = (time.perf_counter() - started) * 1000
    found: dict[str, Any] = json.loads(answer.raise_for_status().content)
    return found, took


def _assembled_without_caches(body: dict[str, Any], now: str) -> str:
    """Return the text of the context for that moment, assembled by this process, which has no caches."""
    from django.conf import settings

    from agents.models import Agent
    from assembly.models import Purpose
    from assembly.pipeline.request import AssemblyRequest, RequestBudgets
    from assembly.pipeline.services import assemble
    from teams.models import Team
    from teams.principal import SYSTEM

    assert not settings.PROCESS_CACHES
    assert not settings.SHARED_CACHE_BYTES
    asked = AssemblyRequest(
        topic=body["topic"], now=datetime.datetime.fromisoformat(now), budgets=RequestBudgets(time_ms=TIME_MS),
        purpose=Purpose.TEST,
    )  # fmt: skip
    agent, team = Agent.objects.get(slug=body["agent"]), Team.objects.get(slug=body["team"])
    fresh = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    assert "repeats" not in fresh.assembly.request
    return fresh.content


def _write_row(kind: str, step: _Step, text: str) -> None:
    """Write something of this kind that the agent, or its team, has."""
    from django.utils import timezone

    from agents.models import Agent
    from agents.services import daily_log_append
    from assembly.models import StoredRule
    from memories.models import Entity, Event, Pattern, TaskFrame, Thread, Tool
    from teams.models import Team
    from teams.principal import SYSTEM
    from teams.versioned_text.versioned_file import file_save

    agent, now = Agent.objects.get(slug=f"agent-{step.agent}"), timezone.now()
    name, words = text[:40], text.lower().strip(".").split()
    said = {"content": {"role": "user", "text": text}, "size": len(text) + 30}
    rule = "then: {boost: [{source: agent_memories, weight: 2}]}\n"
    rows: dict[str, Callable[[], Any]] = {
        "event": lambda: Event.objects.create(agent=agent, type="message", occurred_at=now, **said),
        "entity": lambda: Entity.objects.create(agent=agent, type="thing", name=name, names=words[:3]),
        "pattern": lambda: Pattern.objects.create(agent=agent, name=name, keywords=words[:3], guidance=text),
        "thread": lambda: Thread.objects.create(agent=agent, title=name, summary=text, touched_at=now),
        "tool": lambda: Tool.objects.create(agent=agent, name=name, description=text),
        "task": lambda: TaskFrame.objects.create(agent=agent, goal=text),
        "rule": lambda: StoredRule.objects.create(name=f"rule-{time.monotonic_ns()}", agent=agent, content=rule),
        "log": lambda: daily_log_append(agent=agent, date=now.date(), text=text, principal=SYSTEM),
    }
    if kind in rows:
        rows[kind]()
        return
    owner: Any = Team.objects.get(slug=f"team-{step.agent % TEAMS}") if step.writes_to == "team" else agent
    file = owner.files.order_by("file_key").first()
    file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)


def _steps(number: int) -> Iterator[_Step]:
    """Yield the steps of the load, the same each time."""
    chance = random.Random(2)
    agents, topics = _zipf(AGENTS), _zipf(TOPICS)
    for _ in range(number):
        (agent,), (topic,) = (chance.choices(range(len(weights)), cum_weights=weights) for weights in (agents, topics))
        is_write = chance.random() < WRITES
        to = ("team" if chance.random() < WRITES_TO_TEAM else "agent") if is_write else ""
        yield _Step(agent, topic, to)


def _zipf(number: int) -> list[float]:
    """Return the cumulated weights of ranks by Zipf's law with the exponent 1."""
    return list(itertools.accumulate(1 / rank for rank in range(1, number + 1)))
