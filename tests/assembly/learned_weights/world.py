"""Contexts of a profile that puts the newest memories first, while agents use the most credible ones."""

import datetime
from collections.abc import Iterable

from agents.models import Agent
from assembly.models import Assembly, AssemblyFeedback
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create
from memories.models import Memory
from teams.principal import SYSTEM

NAME = "newest"
PROFILE = """
description: Memories, the newest first.
budget: 4000
weights: {recency: 0.8, credibility: 0.2, relevance: 0, salience: 0, coherence: 0}
sections:
  - {key: agent_memories, heading: Memories, layer: L4, source: agent_memories, shape: blocks}
"""
WITHOUT_BLOCKS = """
description: Turns alone.
budget: 4000
sections:
  - {key: turns, heading: Conversation, layer: L2, source: turns, shape: turns}
"""
USED_CREDIBILITY = 0.7
START = datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.UTC)


def remember(agent: Agent, count: int = 16) -> None:
    """Store memories an hour apart, of which the oldest are the most credible."""
    Memory.objects.bulk_create(
        Memory(
            agent=agent,
            text=f"Customer number {number} prefers to be called in the morning, before nine o'clock.",
            kind="fact",
            occurred_at=START + datetime.timedelta(hours=number),
            credibility=1 - number / count,
        )
        for number in range(count)
    )


def contexts_made(agent: Agent, count: int) -> list[Assembly]:
    """Assemble contexts at different moments, so that none repeats another."""
    moments = [START + datetime.timedelta(days=1, minutes=number) for number in range(count)]
    requests = [AssemblyRequest(topic="", profile=NAME, now=moment) for moment in moments]
    return [assemble(agent=agent, asked=asked, principal=SYSTEM).assembly for asked in requests]


def trusted_refs(agent: Agent) -> frozenset[str]:
    """Return the refs of the memories that are used, without versions."""
    found = Memory.objects.filter(agent=agent, credibility__gte=USED_CREDIBILITY)
    return frozenset(f"memory:{memory.id}" for memory in found)


def profile_made() -> None:
    profile_create(name=NAME, content=PROFILE, principal=SYSTEM)


def feedback_given(contexts: Iterable[Assembly], used: Iterable[str]) -> None:
    """Store feedback on the contexts: the items that were used."""
    refs = sorted(used)
    AssemblyFeedback.objects.bulk_create(
        AssemblyFeedback(assembly=one.id, given_by="system", used=refs) for one in contexts
    )
