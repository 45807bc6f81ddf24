"""What keeping the record of an assembly costs: its room on disk, and its part of the time.

An agent with 10,000 memories, in a team with 200, is asked on many topics, for contexts of about 16,000 tokens; the
topics come again and again, as an agent's do, and so do its files. `bytes_per_assembly` is by how much all that records
are kept in has grown per assembly, indexes included, once each topic was asked about; `bytes_per_new_topic`, while they
were new. `share_of_assembly` is the part of an assembly with a topic that recording takes.
"""

import itertools
import random
import statistics
import time
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import django

from tests.benchmarks.assembly_vs_floor import SEARCHED, SIZES, assembled, filled, milliseconds, words
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from agents.models import Agent
    from teams.models import Team

NAME = "record"
TOPICS, ASSEMBLIES, TIMED = 200, 1_000, 300
WORDS = 2_300
"""Of each file: with them, a context comes to about 16,000 tokens."""
TABLES = ("assemblies", "pieces", "stored_texts", "new_assemblies")


def run() -> None:
    """Print bytes per assembly, the tokens that they are about, and the share of the time."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from config.server.memory_settings import configure_garbage_collector
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug="team", name="Team", principal=SYSTEM)
    agent = filled(SEARCHED, SIZES[SEARCHED], team, words_a_file=WORDS)
    configure_garbage_collector()
    chance = random.Random(1)
    topics = [words(chance, 6) for _ in range(TOPICS)]
    assembled(agent, team, topics[0])
    begun = _bytes()
    tokens = [assembled(agent, team, topic).assembly.tokens for topic in topics]
    known = _bytes()
    for topic in itertools.islice(itertools.cycle(topics), ASSEMBLIES):
        assembled(agent, team, topic)
    figure(NAME, "tokens", statistics.median(tokens), "tokens", TOPICS)
    figure(NAME, "bytes_per_new_topic", (known - begun) / TOPICS, "bytes", TOPICS)
    figure(NAME, "bytes_per_assembly", (_bytes() - known) / ASSEMBLIES, "bytes", ASSEMBLIES)
    _share(agent, team, chance)


def _bytes() -> int:
    """Of all that records are kept in, once what is pending is in its place."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {', '.join(TABLES)}")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [[*TABLES]]
        )
        return int(cursor.fetchone()[0])


def _share(agent: "Agent", team: "Team", chance: random.Random) -> None:
    from assembly.records.record import record

    recording: list[float] = []

    def timed(**given: Any) -> Any:
        started = time.perf_counter()
        try:
            return record(**given)
        finally:
            recording.append((time.perf_counter() - started) * 1000)

    with patch("assembly.pipeline.services.record", timed):
        took = [milliseconds(partial(assembled, agent, team, words(chance, 6))) for _ in range(TIMED)]
    figure(NAME, "record_p50", statistics.median(recording), "ms", TIMED)
    figure(NAME, "share_of_assembly", statistics.median(recording) / statistics.median(took), "share", TIMED)
