"""A whole assembly against the physical floor: the least that reading a context and keeping its record can take.

The floor is written by hand for this one case. It reads exactly what gets into the context, by one prepared statement
on a connection of its own; it counts, ranks, cuts and explains nothing; and by one more prepared statement it writes a
record as large as ours, which it has at hand. Both commit durably.
They take turns, on the agent with 1,000, 10,000 and 100,000 memories, in a team with 200, without a topic.

`growth_1k_100k` is what 100,000 memories cost compared with 1,000.
"""

import datetime
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import django
import psycopg
from uuid_utils.compat import uuid7

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from agents.models import Agent
    from assembly.pipeline.answer_cache import AssemblyResult
    from teams.models import Team

NAME = "assembly_vs_floor"
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
SEARCHED = "10k"
TURNS, WARM = 300, 20
BATCH = 500
DAYS = 7
TODAY = datetime.date(2026, 11, 21)
WORDS = [
    "harbour", "walk", "ink", "brush", "team", "goal", "plan", "ship", "review", "customer", "refund",
    "ticket", "gate", "visitor", "guide", "paper", "print", "budget", "note", "winter", "market",
    "letter", "garden", "bridge", "window", "answer", "question", "morning", "evening", "station",
    "river", "coffee", "meeting", "deadline", "translation", "contract", "sketch", "rehearsal",
    "chapter", "library", "ceramic", "exhibition", "volunteer", "donation", "poster", "archive",
]  # fmt: skip

READ = """
SELECT content, NULL::timestamptz AS at FROM agent_md_files WHERE agent_id = %(agent)s
UNION ALL SELECT content, NULL FROM team_md_files WHERE team_id = %(team)s
UNION ALL SELECT content, NULL FROM daily_logs WHERE agent_id = %(agent)s AND date BETWEEN %(first)s AND %(last)s
UNION ALL (SELECT text, coalesce(occurred_at, created) AS at FROM memories
    WHERE agent_id = %(agent)s AND superseded_by_id IS NULL ORDER BY at DESC LIMIT 5)
UNION ALL (SELECT text, coalesce(occurred_at, created) AS at FROM memories
    WHERE team_id = %(team)s AND superseded_by_id IS NULL ORDER BY at DESC LIMIT 5)
"""
WRITE = "INSERT INTO assemblies SELECT row.* FROM jsonb_populate_record(NULL::assemblies, %(assembly)s::jsonb) AS row"
ASSEMBLY = "SELECT to_jsonb(row)::text FROM assemblies AS row WHERE id = %s"


def run() -> None:
    """Print ratios of medians and of 95th percentiles, and the milliseconds that they are of."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from django.db import connections

    from config.server.memory_settings import configure_garbage_collector
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug="team", name="Team", principal=SYSTEM)
    agents = {name: filled(name, rows, team) for name, rows in SIZES.items()}
    with connections["owner"].cursor() as cursor:
        # Not those of records: a table that is vacuumed while it is empty is read as if it stayed so.
        cursor.execute("VACUUM ANALYZE memories, agent_md_files, team_md_files, daily_logs, agents, teams, agent_teams")
    configure_garbage_collector()  # as a web process does
    medians = {name: _compare(name, agent, team) for name, agent in agents.items()}
    figure(NAME, "growth_1k_100k", medians["100k"] / medians["1k"], "ratio", TURNS)


def filled(name: str, rows: int, team: "Team", words_a_file: int = 600, today: datetime.date = TODAY) -> "Agent":
    """An agent with that many memories, a week of logs up to today and files of so many words, its team's, too."""
    from agents.models import Agent, AgentFile, DailyLog
    from agents.services import agent_create
    from memories.models import Memory
    from memories.services import MemoryFacts, memories_create
    from teams.models import TeamFile
    from teams.principal import SYSTEM

    chance = random.Random(rows)
    agent = agent_create(slug=f"agent-{name}", name=f"Agent {name}", teams=[team])
    for file in (*AgentFile.objects.filter(agent=agent), *TeamFile.objects.filter(team=team)):
        file.content = words(chance, words_a_file)
        file.save()
    for days in range(DAYS):
        DailyLog.objects.create(agent=agent, date=today - datetime.timedelta(days=days), content=words(chance, 300))
    # Where something is searched for, by meaning, too. Elsewhere, nobody looks at a vector.
    if name == SEARCHED:
        for _ in range(rows // BATCH):
            facts = [MemoryFacts(kind="fact", text=words(chance, 20)) for _ in range(BATCH)]
            memories_create(owner=agent, facts=facts, principal=SYSTEM)
    else:
        made = [Memory(agent=agent, kind="fact", text=words(chance, 20)) for _ in range(rows)]
        Memory.objects.bulk_create(made, batch_size=5_000)
    if not team.memories.exists():
        Memory.objects.bulk_create([Memory(team=team, kind="fact", text=words(chance, 20)) for _ in range(200)])
    return Agent.objects.get(id=agent.id)


def words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count)).capitalize() + "."


def assembled(agent: "Agent", team: "Team", topic: str = "") -> "AssemblyResult":
    """For a moment that nobody asked for: what is measured is assembling, not the cache."""
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from teams.principal import SYSTEM

    now = datetime.datetime.combine(TODAY, datetime.time(12), datetime.UTC)
    asked = AssemblyRequest(now=now + datetime.timedelta(microseconds=next(_moments)), topic=topic)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


_moments = itertools.count(1)


def _compare(name: str, agent: "Agent", team: "Team") -> float:
    """Print the figures of one agent. The median of our assembly, in milliseconds."""
    with _floor(agent, team) as floor:
        pairs = [(milliseconds(floor), milliseconds(partial(assembled, agent, team))) for _ in range(TURNS + WARM)]
    for place, who in enumerate(("floor", "ours")):
        figure(NAME, f"{who}_p50_{name}", statistics.median(pair[place] for pair in pairs[WARM:]), "ms", TURNS)
    floors, ours = (sorted(pair[place] for pair in pairs[WARM:]) for place in (0, 1))
    late = int(TURNS * 0.95)
    figure(NAME, f"p50_ratio_{name}", statistics.median(ours) / statistics.median(floors), "ratio", TURNS)
    figure(NAME, f"p95_ratio_{name}", ours[late] / floors[late], "ratio", TURNS)
    return statistics.median(ours)


def milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


@contextmanager
def _floor(agent: "Agent", team: "Team") -> Iterator[Callable[[], None]]:
    """What reads the context of the agent and writes its record, and nothing else."""
    from django.db import connection

    answer = assembled(agent, team)
    made = answer.assembly
    settings = connection.settings_dict
    address = {"host": settings["HOST"], "port": settings["PORT"], "dbname": settings["NAME"]}
    secret = {"user": settings["USER"], "password": settings["PASSWORD"]}
    with psycopg.connect(
        **{key: value for key, value in {**address, **secret}.items() if value}, autocommit=True
    ) as own:
        asked = {"agent": agent.id, "team": team.id, "first": TODAY - datetime.timedelta(days=DAYS - 1), "last": TODAY}
        assembly = _value(own, ASSEMBLY, made.id)
        included = {one.ref for one in answer.decisions if one.included}

        def floor() -> None:
            rows = own.execute(READ, asked, prepare=True).fetchall()
            own.execute(WRITE, {"assembly": assembly.replace(str(made.id), str(uuid7()))}, prepare=True)
            assert len(rows) == len(included), (len(rows), len(included))

        yield floor


def _value(own: "psycopg.Connection[Any]", statement: str, *parameters: object) -> str:
    row = own.execute(statement, parameters).fetchone()
    assert row
    return str(row[0])
