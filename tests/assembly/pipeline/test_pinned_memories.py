"""Pinned and retired memories in contexts: told first or no more, on record, and never from a stale cache."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from memories.models import Memory
from memories.services import MemoryFacts, facts_of, memories_create, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.recorded_decisions import decided

pytestmark = pytest.mark.django_db

TOPIC = "When does the ferry leave?"


@pytest.fixture
def memories(demo_team: Team) -> Sequence[Memory]:
    """Of the team: an old one about nothing in particular, and many about the ferry."""
    texts = ("We never promise dates.", *(f"The ferry leaves at {hour} o'clock." for hour in range(1, 40)))
    facts = [MemoryFacts(kind="fact", text=text) for text in texts]
    return memories_create(owner=demo_team, facts=facts, principal=SYSTEM)


def change(memory: Memory, **changes: Any) -> Memory:
    return memory_update(
        memory=memory, expected_version=memory.version, facts=facts_of(memory), superseded_by=None, principal=SYSTEM,
        **changes,
    )  # fmt: skip


def context(luna: Agent, team: Team, topic: str = TOPIC, **wishes: Any) -> tuple[Assembly, list[str]]:
    """The assembly, and the lines of what the team knows."""
    answer = assemble(agent=luna, team=team, asked=AssemblyRequest(topic=topic, **wishes), principal=SYSTEM)
    section = re.search(r'^(## |<section name=")Team Knowledge.*\n\n?((- .*\n)*)', answer.content, re.MULTILINE)
    return answer.assembly, section[2].splitlines() if section else []


@pytest.mark.parametrize("topic", [TOPIC, "", "zzzz qqqq"])
@pytest.mark.parametrize("profile", ["conversation", "coding"])
def test_what_is_pinned_is_told_first_whatever_the_topic(
    topic: str, profile: str, luna: Agent, demo_team: Team, memories: Sequence[Memory]
) -> None:
    pin = change(memories[0], pinned=True)
    assembly, lines = context(luna, demo_team, topic, profile=profile)
    assert lines[0] == "- [fact] We never promise dates."
    assert len(lines) == 5
    (decision,) = decided(assembly, ref=pin.ref)
    assert (decision.code, decision.rank) == ("pinned", 1)
    assert replay(load_record(assembly)).identical


def test_a_cached_context_notices_a_pin(luna: Agent, demo_team: Team, memories: Sequence[Memory]) -> None:
    assert "- [fact] We never promise dates." not in context(luna, demo_team)[1]
    pin = change(memories[0], pinned=True)
    assert context(luna, demo_team)[1][0] == "- [fact] We never promise dates."
    change(pin, pinned=False)
    assert "- [fact] We never promise dates." not in context(luna, demo_team)[1]


def test_a_retired_memory_is_left_out_and_says_why(luna: Agent, demo_team: Team, memories: Sequence[Memory]) -> None:
    last = change(memories[-1], retired_because="The timetable changed.")
    assembly, lines = context(luna, demo_team, "ferry", max_tokens=16_000)
    assert last.text not in "\n".join(lines)
    for gone in memories[1:-1]:
        change(gone, retired_because="The timetable changed.")
    assembly, lines = context(luna, demo_team, "ferry")
    assert sorted(lines) == ["- [decision] Use three acts", "- [fact] We never promise dates."]
    left_out = decided(assembly, code="expired")
    assert len(left_out) >= 10
    assert left_out[0].detail == {"reason": "The timetable changed."}


@pytest.mark.parametrize("topic", [TOPIC, ""])
def test_pins_cost_no_further_statement(topic: str, luna: Agent, demo_team: Team, memories: Sequence[Memory]) -> None:
    context(luna, demo_team, topic)
    counts = []
    for pinned in (False, True):
        change(memories[1], pinned=pinned, retired_because="" if pinned else "Not now.")
        with CaptureQueriesContext(connection) as queries:
            context(luna, demo_team, topic)
        counts.append(len(queries))
        memories[1].refresh_from_db()
    assert counts[0] == counts[1]
