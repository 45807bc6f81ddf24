"""Memories: what is excluded takes no other's place."""

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from tests.assembly.sources.source_factories import ask, gather_context

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("topic", "limit"), [("", 40), ("numbers", 45)])
def test_more_come_where_some_are_excluded(agent: Agent, topic: str, limit: int) -> None:
    facts = [MemoryFacts(kind="fact", text=f"Number {number}") for number in range(60)]
    made = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert ask("agent_memories", gather_context(agent, topic)).limit == limit
    filters = RequestFilters(exclude=tuple(memory.ref for memory in made[:3]))
    gathered = ask("agent_memories", gather_context(agent, topic, filters=filters))
    assert gathered.limit == limit + (6 if topic else 3)
    assert len(gathered.candidates) >= 23
