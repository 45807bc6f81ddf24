"""What conflicts cost: a written memory, noted for the comparison, and a context with 200 open conflicts in reach.

An agent has 10,000 memories. `context`: the conflicts are between random pairs of them, so few are between candidates
of one context; `disputed`: all are between candidates of the measured contexts. Figures are medians of turns taken in
alternation, so that the load of the machine is the same on both sides; a ratio of 1.1 is the limit.
"""

import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import django

from assembly.engine.refs import Ref
from tests.benchmarks.assembly_vs_floor import SIZES, filled, milliseconds, words
from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage

if TYPE_CHECKING:
    from agents.models import Agent
    from assembly.models import Conflict
    from assembly.pipeline.answer_cache import AssemblyResult
    from teams.models import Team

NAME = "conflict_cost"
SIZE = "10k"
CONFLICTS = 200
WRITES, ROUNDS, CONTEXTS = 300, 60, 5


def run() -> None:
    """Print the medians in milliseconds, and the ratios of with to without."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from config.server.memory_settings import configure_garbage_collector
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug="team", name="Team", principal=SYSTEM)
    agent = filled(SIZE, SIZES[SIZE], team)
    configure_garbage_collector()
    _writes(agent)
    memories = list(agent.memories.values_list("id", flat=True))
    _contexts("context", agent, team, memories, lambda chance: words(chance, 6))
    topic = words(random.Random(3), 6)
    found = [Ref.parse(one.ref) for one in _assemble(agent, team, topic).decisions]
    candidates = [UUID(ref.id) for ref in found if ref.kind == "memory"]
    _contexts("disputed", agent, team, candidates, lambda _: topic)


def _writes(agent: "Agent") -> None:
    from assembly.conflicts.uncompared_items import note_saved_rows
    from memories.services import MemoryFacts, memory_create
    from memories.services.announcements import texts_saved
    from teams.principal import SYSTEM

    chance = random.Random(1)

    def write() -> None:
        memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=words(chance, 12)), principal=SYSTEM)

    write()
    noted, plain = [], []
    for _ in range(WRITES):
        noted.append(milliseconds(write))
        texts_saved.disconnect(note_saved_rows)
        plain.append(milliseconds(write))
        texts_saved.connect(note_saved_rows)
    _print("write", noted, plain)


def _contexts(
    name: str, agent: "Agent", team: "Team", ids: Sequence[UUID], topic_of: Callable[[random.Random], str]
) -> None:
    from assembly.models import Conflict

    chance = random.Random(2)
    Conflict.objects.using("owner").all().delete()  # the app may not
    pairs = {tuple(sorted(chance.sample(ids, 2))) for _ in range(2 * CONFLICTS)}
    Conflict.objects.bulk_create(_conflict(agent, *pair) for pair in sorted(pairs)[:CONFLICTS])
    disputed: list[float] = []
    plain: list[float] = []
    for _ in range(ROUNDS):
        for status, took in (("open", disputed), ("gone", plain)):
            Conflict.objects.update(status=status)
            _assemble(agent, team, topic_of(chance))
            took += [milliseconds(partial(_assemble, agent, team, topic_of(chance))) for _ in range(CONTEXTS)]
    _print(name, disputed, plain)


def _conflict(agent: "Agent", *items: UUID) -> "Conflict":
    from assembly.models import Conflict
    from memories.models import Memory

    left, right = Memory.objects.filter(id__in=items).order_by("id")
    conflict = Conflict(
        agent=agent, kind="number", cue="The numbers differ.",
        similarity=0.9, subject=0.9, severity=0.8, probability=0.9,
        left_ref=left.ref, left_item=left.id, left_sha256=b"", left_statement=left.text[:500],
        right_ref=right.ref, right_item=right.id, right_sha256=b"", right_statement=right.text[:500],
    )  # fmt: skip
    conflict.explain()
    return conflict


def _assemble(agent: "Agent", team: "Team", topic: str) -> "AssemblyResult":
    from django.utils import timezone

    from assembly.pipeline.request import AssemblyRequest
    from assembly.pipeline.services import assemble
    from teams.principal import SYSTEM

    now = timezone.now()  # a moment of its own, so that no answer comes from the cache
    asked = AssemblyRequest(topic=topic, profile="memory", now=now)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


def _print(name: str, with_conflicts: list[float], without: list[float]) -> None:
    slow, fast = statistics.median(with_conflicts), statistics.median(without)
    figure(NAME, f"{name}_p50", slow, "ms", len(with_conflicts))
    figure(NAME, f"{name}_without_p50", fast, "ms", len(without))
    figure(NAME, f"{name}_ratio", slow / fast, "times", len(without))
