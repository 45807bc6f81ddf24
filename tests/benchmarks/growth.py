"""One table that grows: from 1,000 memories to 1,000,000 of 1,000 agents; ROWS=100000 ends it sooner.

The agent that is asked has 1,000 of them at each step, and a team with 200: what changes is all that is not theirs. Its
own memories have vectors, and so have the first 50,000 of the others: nobody else's are compared with a question, and
to build an index on the meaning of a million takes longer than everything else.
"""

import datetime
import itertools
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.memory_table import copied, indexed_afterwards

if TYPE_CHECKING:
    from uuid import UUID

    from agents.models import Agent
    from teams.models import Team

NAME = "growth"
STEPS = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}
AGENTS = 1_000
OWN = 1_000
WITH_VECTORS = 50_000
BATCH = 1_000
TIMES, WARM = 100, 10
NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)
SYLLABLES = ("ba", "den", "fir", "gol", "hum", "ka", "lor", "mis", "nu", "pel", "ra", "sto", "ti", "vam", "wex", "zo")
WORDS = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
# As in any language: the second word is half as frequent as the first, the third a third.
FREQUENT = list(itertools.accumulate(1 / place for place in range(1, len(WORDS) + 1)))

_chance = random.Random(1)
_moments = itertools.count(1)


def run() -> None:
    """Print medians in milliseconds after each step, and how many times those of the first step they are at the end."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from agents.models import Agent
    from teams.principal import SYSTEM
    from teams.services import team_create

    most = int(os.environ.get("ROWS", max(STEPS.values())))
    team = team_create(slug="team", name="Team", principal=SYSTEM)
    agents = Agent.objects.bulk_create(Agent(slug=f"agent-{place}", name=f"Agent {place}") for place in range(AGENTS))
    agents[0].teams.add(team)
    _remember(team)
    medians, there = {}, 0
    for name, rows in STEPS.items():
        if rows <= most:
            _grow(name, agents, there, rows)
            medians[name], there = _measure(name, agents, team), rows
    first, *_, last = medians
    for kind, median in medians[last].items():
        figure(NAME, f"{kind}_growth_{first}_{last}", median / medians[first][kind], "ratio", TIMES)


def _remember(team: "Team") -> None:
    from memories.services import MemoryFacts, memories_create
    from teams.principal import SYSTEM

    facts = [MemoryFacts(kind="fact", text=_text(20)) for _ in range(200)]
    memories_create(owner=team, facts=facts, principal=SYSTEM)


def _text(words: int) -> str:
    return " ".join(_chance.choices(WORDS, cum_weights=FREQUENT, k=words)).capitalize() + "."


def _grow(name: str, agents: "list[Agent]", there: int, rows: int) -> None:
    """Let there be so many rows, of which the first are those of the first agent; the others go round all others."""
    owners = (agents[0] if place < OWN else agents[1 + place % (AGENTS - 1)] for place in range(there, rows))
    started = time.perf_counter()
    with indexed_afterwards():
        copied(_rows([owner.pk for owner in owners], there))
    figure(NAME, f"load_{name}", time.perf_counter() - started, "s", rows - there)


def _rows(owners: "list[UUID]", there: int) -> Iterator[tuple[Any, ...]]:
    """As COPY takes them, for each owner one, of which so many are there already."""
    from pgvector import Vector
    from uuid_utils.compat import uuid7

    from memories.embeddings.active_model import last_known_model
    from memories.embeddings.vectors import embed_texts
    from teams.sensitivity import DEFAULT_LEVEL

    space = last_known_model()
    for start in range(0, len(owners), BATCH):
        said = [_text(20) for _ in owners[start : start + BATCH]]
        meant = there + start < WITH_VECTORS
        vectors = embed_texts(space, said, [DEFAULT_LEVEL] * len(said)) if meant else [None] * len(said)
        for place, (text, vector) in enumerate(zip(said, vectors, strict=True), start):
            at = NOW - datetime.timedelta(minutes=there + place)
            meaning = (None if vector is None else Vector(vector).to_text(), space.model if meant else "")
            yield (uuid7(), owners[place], "fact", text, *meaning, 0.5, 0.5, at, "", 1, at, "system", "", "")


def _measure(name: str, agents: "list[Agent]", team: "Team") -> dict[str, float]:
    """The medians, in milliseconds."""
    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from assembly.profiles.rankers import RANKERS
    from assembly.sources.memories import search_weights
    from memories.search.memory_search import search_memories, topic_vector
    from memories.search.question import parse_question
    from memories.services import MemoryFacts, memory_create
    from teams.principal import SYSTEM

    asked, writer = agents[0], agents[1]
    weights = search_weights(RANKERS["default"])

    def assembly() -> None:
        # For a moment that nobody asked for: what is measured is assembling, not the cache.
        moment = NOW + datetime.timedelta(microseconds=next(_moments))
        assemble(agent=asked, team=team, asked=AssemblyRequest(now=moment), principal=SYSTEM)

    def search() -> None:
        topic = _text(6)
        question = parse_question(topic, topic_vector(topic), NOW.date())
        search_memories(owner=asked, question=question, weights=weights, limit=20, recent=5)

    def insert() -> None:
        memory_create(owner=writer, facts=MemoryFacts(kind="fact", text=_text(20)), principal=SYSTEM)

    calls = {"assembly": assembly, "search": search, "insert": insert}
    return {kind: _median(f"{kind}_p50_{name}", call) for kind, call in calls.items()}


def _median(name: str, call: Callable[[], None]) -> float:
    took = []
    for _ in range(WARM + TIMES):
        started = time.perf_counter()
        call()
        took.append((time.perf_counter() - started) * 1000)
    median = statistics.median(took[WARM:])
    figure(NAME, name, median, "ms", TIMES)
    return median
