"""An agent's turn: it stores one memory and one event, then requests a context on a new topic; and the floor of that.

Each turn is new to all that a process remembers, as an agent's turns are: its own writes changed what contexts are made
of, and its topic is new. The agents have 1,000, 10,000 and 100,000 memories (sentences that people
wrote), in a team with 200, and 10,000 events, a graph, documents, patterns, threads, tools and tasks, and the
organisation has a file, so that `coding` has something in every section. Turns of ours and of the floor alternate,
first over the services in this process, then over HTTP to the real server. SIZES=1k,10k and TURNS=30 take less time.

`turn_ratio_<profile>_<size>` is our median turn over the services divided by the floor's; `turn_ms_…` and `floor_ms_…`
are those medians, `assemble_after_write_ms_…` our assembly's part, `floor_read_ms_…` the floor's. `writes_ms_<size>` is
the part of our two writes, `floor_writes_ms_<size>` the floor's, over both profiles. The same over HTTP, against a
floor measured in the same minutes: `turn_http_ms_…`, `turn_http_ratio_…`, `assemble_after_write_http_ms_…`.
"""

import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import django
import httpx

from tests.benchmarks.assembly_vs_floor import SIZES, filled
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage, served
from tests.benchmarks.memory_table import copied, indexed_afterwards
from tests.benchmarks.search import memory_rows
from tests.benchmarks.turn_floor import TRIED, Sample, floor_of
from tests.benchmarks.written_text import talk_of, written_days

if TYPE_CHECKING:
    from agents.models import Agent
    from assembly.models import Assembly
    from memories.models import Session
    from teams.models import Team

NAME = "turn"
PROFILES = ("conversation", "coding")
TURNS, WARM = 120, 8
OF_TEAM, FIRST_TOPIC, LINES = 200, 10_000, 20_000
"""Lines that a team remembers, an agent goes on to store, and topics are made of."""
OF_ORGANISATION = 120
"""Lines in the file of the organisation."""
NEW_TEXTS = "SELECT coalesce(sum(coalesce(length(text), length(sealed))), 0) FROM stored_texts"

Turn = Callable[[str, str], tuple[float, float]]
"""Takes a line to store and a topic; returns the milliseconds of the writes, and of the assembly."""


@dataclass(frozen=True, slots=True)
class Worker:
    """An agent with its team, and the session that it works in; what it says next, and asks about."""

    size: str
    agent: "Agent"
    team: "Team"
    session: "Session"
    lines: Iterator[str]
    topics: Iterator[str]

    def ours(self, profile: str) -> Turn:
        """Return a turn over the services."""
        from memories.services import MemoryFacts, events_create, memory_create
        from teams.principal import SYSTEM

        def turn(line: str, topic: str) -> tuple[float, float]:
            event = {"type": "message", "content": _content(line), "session_id": self.session.id}
            started = time.perf_counter()
            memory_create(owner=self.agent, facts=MemoryFacts(kind="fact", text=line), principal=SYSTEM)
            events_create(agent=self.agent, facts=[event], principal=SYSTEM)
            written = time.perf_counter()
            self.assembled(profile, line, topic)
            return (written - started) * 1000, (time.perf_counter() - written) * 1000

        return turn

    def assembled(self, profile: str, line: str, topic: str) -> "Assembly":
        """Ask on a topic; return the record."""
        from assembly.pipeline.request import AssemblyRequest
        from assembly.pipeline.services import assemble
        from assembly.sources.base import ConversationTurn as Said
        from teams.principal import SYSTEM

        extras = self._extras(profile, line)
        history = tuple(Said(**said) for said in extras.pop("history", ()))
        wanted = AssemblyRequest(topic=topic, profile=profile, session=str(self.session.id), history=history, **extras)
        return assemble(agent=self.agent, team=self.team, asked=wanted, principal=SYSTEM).assembly

    def over_http(self, profile: str, client: httpx.Client) -> Turn:
        """Return a turn over HTTP."""
        of_agent = f"/api/v1/agents/{self.agent.slug}"

        def turn(line: str, topic: str) -> tuple[float, float]:
            body = {
                "agent": self.agent.slug, "team": self.team.slug, "profile": profile, "topic": topic,
                "session": str(self.session.id), **self._extras(profile, line),
            }  # fmt: skip
            event = {"type": "message", "content": _content(line), "session": str(self.session.id)}
            started = time.perf_counter()
            client.post(f"{of_agent}/memories", json={"kind": "fact", "text": line}).raise_for_status()
            client.post(f"{of_agent}/events", json=event).raise_for_status()
            written = time.perf_counter()
            client.post("/api/v1/assemblies", json=body).raise_for_status()
            return (written - started) * 1000, (time.perf_counter() - written) * 1000

        return turn

    def _extras(self, profile: str, line: str) -> dict[str, Any]:
        """What only `coding` takes."""
        if profile != "coding":
            return {}
        said = [{"role": role, "content": line} for role in ("user", "assistant", "user")]
        return {"history": said, "additional_context": line}


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds of each turn: its writes, and what comes after them."""

    writes: list[float]
    rest: list[float]

    @property
    def turns(self) -> list[float]:
        """Return the whole turns, shortest first."""
        return sorted(map(sum, zip(self.writes, self.rest, strict=True)))


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: a profile at a size, over the services or over HTTP."""

    name: str
    size: str
    ours: Took
    floor: Took


def run() -> None:
    """Print the figures, and a table of them to standard error."""
    chosen = os.environ.get("SIZES", ",".join(SIZES)).split(",")
    turns = int(os.environ.get("TURNS", TURNS))
    if unknown := set(chosen) - set(SIZES):
        sys.exit(f"There is no size {', '.join(sorted(unknown))}. Known are: {', '.join(SIZES)}.")
    manage("migrate", "--verbosity", "0")
    django.setup()
    from config.server.memory_settings import configure_garbage_collector

    started = time.perf_counter()
    workers = filled_workers(chosen)
    figure(NAME, "load", time.perf_counter() - started, "s", sum(SIZES[size] for size in chosen))
    configure_garbage_collector()  # as a web process does
    cases = [(worker, profile) for worker in workers for profile in PROFILES]
    samples = {(worker.size, profile): _sample(worker, profile) for worker, profile in cases}
    table = []
    for worker, profile in cases:
        took = _measure(worker, worker.ours(profile), samples[worker.size, profile], turns)
        table.append(_report(worker, profile, took, ""))
    key = manage("create_api_key", "--admin").split()[-1]
    with (
        served() as address,
        httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client,
    ):
        for worker, profile in cases:
            took = _measure(worker, worker.over_http(profile, client), samples[worker.size, profile], turns)
            table.append(_report(worker, profile, took, "http_"))
    _report_writes(table)
    _print_table(table)


def filled_workers(sizes: list[str]) -> list[Worker]:
    """The agents with all that they know."""
    from django.db import connections
    from django.utils import timezone

    from memories.services import MemoryFacts, memories_create
    from teams.organisation.services import organisation_file_create
    from teams.principal import SYSTEM
    from teams.services import team_create
    from tests.assembly.large_agent import fill

    days, now = written_days(), timezone.now()
    paragraphs = talk_of(days, OF_ORGANISATION, OF_ORGANISATION).days
    content = "\n\n".join(" ".join(day) for day in paragraphs)
    organisation_file_create(key="handbook", title="Handbook", content=content, principal=SYSTEM)
    workers, talks = [], {}
    for number, size in enumerate(sizes):
        talk, later = talk_of(days, SIZES[size], SIZES[size]), talk_of(days, number, LINES)
        lines = list(itertools.chain.from_iterable(later.days))
        team = team_create(slug=f"team-{size}", name=f"Team {size}", principal=SYSTEM)
        facts = [MemoryFacts(kind="fact", text=line) for line in lines[:OF_TEAM]]
        memories_create(owner=team, facts=facts, principal=SYSTEM)
        agent = filled(size, 0, team, today=now.date())
        session = fill(agent, now)
        workers.append(Worker(size, agent, team, session, itertools.cycle(lines[OF_TEAM:FIRST_TOPIC]), _topics(lines)))
        talks[agent] = talk
    with indexed_afterwards():
        for agent, talk in talks.items():
            copied(memory_rows(agent, talk))
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return workers


def _topics(lines: list[str]) -> Iterator[str]:
    """Yield topics, each of them new. Each names something of the graph, and a subject that there is guidance on."""
    from tests.assembly.large_agent import PARTS, ROLES

    for number, line in enumerate(itertools.cycle(lines[FIRST_TOPIC:])):
        subject = ("login", "refund", "report")[number % 3]
        name = PARTS[number % len(PARTS)] + ROLES[number // 10 % len(ROLES)]
        yield f"{line.partition(': ')[2].rstrip('.:!?')}, for the {subject} of {name}?"


def _sample(worker: Worker, profile: str) -> Sample:
    """Take the first turns of ours; return what one leaves behind. Each section of the profile has something in it."""
    from memories.models import Event, Memory

    before, turn = _new_texts(), worker.ours(profile)
    for _ in range(WARM):
        turn(next(worker.lines), next(worker.topics))
    per_turn = (_new_texts() - before) // WARM
    assembly = worker.assembled(profile, next(worker.lines), next(worker.topics))
    empty = [section["key"] for section in assembly.sections if not section["tokens"]]
    assert not empty, (profile, worker.size, empty)
    memory, event = (model.objects.filter(agent=worker.agent).latest("created") for model in (Memory, Event))
    return Sample(memory.id, event.id, assembly.id, per_turn)


def _new_texts() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(NEW_TEXTS)
        return int(cursor.fetchone()[0])


def _measure(worker: Worker, ours: Turn, sample: Sample, turns: int) -> tuple[Took, Took]:
    """Return how long turns of ours and of the floor took, which alternate."""
    tried = [next(worker.topics) for _ in range(TRIED)]
    with floor_of(worker.agent.id, worker.team.id, sample, tried) as floor:
        pairs = []
        for _ in range(WARM + turns):
            line, topic = next(worker.lines), next(worker.topics)
            pairs.append((ours(line, topic), floor.turn(line, topic)))
    mine, least = zip(*pairs[WARM:], strict=True)
    return Took(*map(list, zip(*mine, strict=True))), Took(*map(list, zip(*least, strict=True)))


def _report(worker: Worker, profile: str, took: tuple[Took, Took], way: str) -> Row:
    """Print the figures of one row; `way` is `http_` or nothing."""
    ours, floor = took
    name, n = f"{profile}_{worker.size}", len(ours.rest)
    whole, least = statistics.median(ours.turns), statistics.median(floor.turns)
    figure(NAME, f"turn_{way}ratio_{name}", whole / least, "ratio", n)
    for what, value in (
        (f"turn_{way}ms", whole),
        (f"turn_{way}p95_ms", _p95(ours)),
        (f"floor_{way}ms", least),
        (f"floor_{way}p95_ms", _p95(floor)),
        (f"assemble_after_write_{way}ms", statistics.median(ours.rest)),
        (f"floor_read_{way}ms", statistics.median(floor.rest)),
    ):
        figure(NAME, f"{what}_{name}", value, "ms", n)
    return Row(f"{way.replace('_', ' ')}{profile}", worker.size, ours, floor)


def _p95(took: Took) -> float:
    return took.turns[int(len(took.turns) * 0.95)]


def _report_writes(table: list[Row]) -> None:
    """Print the figures of the writes of each size, over all profiles."""
    for way in ("", "http_"):
        rows = [row for row in table if row.name.startswith("http ") == bool(way)]
        for size in dict.fromkeys(row.size for row in rows):
            for whose in ("ours", "floor"):
                took = [one for row in rows if row.size == size for one in getattr(row, whose).writes]
                name = f"{'' if whose == 'ours' else 'floor_'}writes_{way}ms_{size}"
                figure(NAME, name, statistics.median(took), "ms", len(took))


def _print_table(table: list[Row]) -> None:
    """Print medians in milliseconds, a row for each profile and size, to standard error."""
    columns = ("turn", "p95", "writes", "assembly", "floor", "p95", "its writes", "ratio")
    print(f"{'':24}{'memories':>10}" + "".join(f"{column:>12}" for column in columns), file=sys.stderr)
    for row in table:
        ours, floor = row.ours, row.floor
        whole, least = statistics.median(ours.turns), statistics.median(floor.turns)
        values = (
            whole, _p95(ours), statistics.median(ours.writes), statistics.median(ours.rest),
            least, _p95(floor), statistics.median(floor.writes), whole / least,
        )  # fmt: skip
        print(f"{row.name:24}{row.size:>10}" + "".join(f"{value:>12.1f}" for value in values), file=sys.stderr)


def _content(line: str) -> dict[str, str]:
    return {"role": "user", "text": line}
