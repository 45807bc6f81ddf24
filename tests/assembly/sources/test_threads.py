"""Threads: the active ones, the last touched first."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.models import Thread, ThreadStatus
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import HOUR, ask, found, gather_context, refs, stranger, texts

pytestmark = pytest.mark.django_db


def thread(agent: Agent, title: str, hours_ago: float = 0, **facts: Any) -> Thread:
    return Thread.objects.create(agent=agent, title=title, touched_at=NOW - hours_ago * HOUR, **facts)


def test_a_thread_stands_with_how_it_stands(agent: Agent) -> None:
    thread(agent, "The lost ledger", summary="Found in the loft.")
    assert texts("threads", gather_context(agent)) == ["**The lost ledger** (active): Found in the loft."]


def test_what_is_resolved_is_not_considered_nor_what_is_anothers(agent: Agent) -> None:
    thread(agent, "Over", status=ThreadStatus.RESOLVED)
    thread(stranger(), "Secret")
    assert not found("threads", gather_context(agent))


def test_the_last_touched_come_first_up_to_the_limit(agent: Agent) -> None:
    made = [thread(agent, f"Story {hours}", hours) for hours in range(25)]
    gathered = ask("threads", gather_context(agent))
    assert [candidate.ref for candidate in gathered.candidates] == [one.ref for one in made[:20]]
    assert gathered.limit == 20
    assert len(found("threads", gather_context(agent, filters=RequestFilters(exclude=(made[0].ref,))))) == 21


def test_a_thread_is_scored_by_its_recency_and_measured_against_the_query(agent: Agent) -> None:
    thread(agent, "The ledger", 24, summary="Who wrote it?")
    [candidate] = found("threads", gather_context(agent, "Find the ledger"))
    assert candidate.score == pytest.approx(0.36788, rel=1e-4)  # exp(-1)
    assert candidate.measures["relevance"] == pytest.approx(1 / 2)  # of find and ledger


def test_it_takes_one_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        thread(agent, f"Story {number}")
    with django_assert_num_queries(1):
        assert len(refs("threads", gather_context(agent), "a", "b")) == 10
