"""Tool results: the newest, whole."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.models import Event
from tests.assembly.sources.source_factories import (
    ask,
    event,
    found,
    frame,
    gather_context,
    refs,
    session,
    stranger,
    texts,
)

pytestmark = pytest.mark.django_db


def result(agent: Agent, hours_ago: float, **facts: Any) -> Event:
    return event(agent, hours_ago, "tool_result", tool="search", **facts)


def test_a_result_stands_with_its_tool_its_size_and_its_time(agent: Agent) -> None:
    result(agent, 1, content={"output": "two\nlines"})
    assert texts("tool_results", gather_context(agent)) == [
        "[2025-03-14T11:00:00.000Z] search (20 characters):\ntwo\nlines"
    ]


def test_the_ten_newest_of_the_session_come(agent: Agent) -> None:
    run = session(agent)
    results = [result(agent, hours, session=run) for hours in range(12)]
    event(agent, 0, session=run)
    result(agent, 0, session=session(agent))
    gathered = ask("tool_results", gather_context(agent, session=run))
    assert [candidate.ref for candidate in gathered.candidates] == [made.ref for made in results[:10]]
    assert gathered.limit == 10


def test_without_a_session_those_of_the_agent_come(agent: Agent) -> None:
    results = [result(agent, 1, session=session(agent)), result(agent, 2)]
    assert refs("tool_results", gather_context(agent)) == [made.ref for made in results]


@pytest.mark.parametrize(("types", "count"), [({"tool_result", "error"}, 1), ({"error"}, 0), (set(), 0), (None, 1)])
def test_only_wanted_types_come(agent: Agent, types: set[str] | None, count: int) -> None:
    result(agent, 1)
    event(agent, 1, "error")
    filters = RequestFilters(event_types=None if types is None else frozenset(types))
    assert len(found("tool_results", gather_context(agent, filters=filters))) == count


def test_with_a_task_those_of_other_tasks_stay_out(agent: Agent) -> None:
    current, other = frame(agent, "Test it"), frame(agent, "Build it")
    mine, free = result(agent, 1, task=current), result(agent, 2)
    result(agent, 1, task=other)
    assert refs("tool_results", gather_context(agent, task=current)) == [mine.ref, free.ref]


def test_results_of_others_are_never_considered(agent: Agent) -> None:
    result(stranger(), 1)
    assert not found("tool_results", gather_context(agent))


def test_it_takes_one_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for hours in range(5):
        result(agent, hours)
    with django_assert_num_queries(1):
        assert len(found("tool_results", gather_context(agent))) == 5
