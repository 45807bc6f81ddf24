"""Recent events: of this session, of the current task, and the highlights of other sessions."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.models import Event
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import (
    HOUR,
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


def test_the_newest_come_first_as_the_seed_words_them(agent: Agent) -> None:
    event(agent, 2, "file_read", content={"path": "a.py"})
    event(agent, 1, "shell_exec", content={"command": "ls", "stdout": "a.py"}, outcome="success")
    assert texts("recent_events", gather_context(agent)) == [
        "[2025-03-14T11:00:00.000Z] Executed: `ls` [success]\na.py",
        "[2025-03-14T10:00:00.000Z] Read: a.py",
    ]


def test_an_event_is_scored_by_its_recency_and_measured_against_the_query(agent: Agent) -> None:
    event(agent, 24, "error", content={"message": "login timeout"})
    [candidate] = found("recent_events", gather_context(agent, "Fix the login"))
    assert candidate.score == pytest.approx(0.36788, rel=1e-4)  # exp(-1)
    assert candidate.kind == "error"
    assert candidate.occurred_at == NOW - 24 * HOUR
    assert candidate.measures == {
        "recency": candidate.score,
        "relevance": 0.75,  # one of the keywords fix and login, and errors help with fixing
        "salience": 0.5,
        "credibility": 0.5,
        "type_match": 1.0,
    }


def test_fifty_of_the_session_are_enough(agent: Agent) -> None:
    run = session(agent)
    events = [event(agent, hours / 60, session=run) for hours in range(55)]
    event(agent, 0)  # of no session
    gathered = ask("recent_events", gather_context(agent, session=run))
    assert [candidate.ref for candidate in gathered.candidates] == [made.ref for made in events[:50]]
    assert gathered.limit == 50 + 5 * 5


def test_without_a_session_the_newest_of_the_agent_count(agent: Agent) -> None:
    events = [event(agent, 1, session=session(agent)), event(agent, 2)]
    assert refs("recent_events", gather_context(agent)) == [made.ref for made in events]


def test_highlights_of_five_other_sessions_come_along(agent: Agent) -> None:
    now = session(agent, 1)
    others = [session(agent, hours) for hours in range(2, 8)]
    for age, run in enumerate(others, 2):
        for type_, outcome in (("error", ""), ("file_write", ""), ("message", "success"), ("message", "")):
            event(agent, age, type_, session=run, outcome=outcome)
    highlights = found("recent_events", gather_context(agent, session=now))
    assert len(highlights) == 5 * 3
    assert {candidate.occurred_at for candidate in highlights} == {NOW - hours * HOUR for hours in range(2, 7)}


def test_a_session_has_five_highlights_its_newest(agent: Agent) -> None:
    run = session(agent, 9)
    errors = [event(agent, hours, "error", session=run) for hours in range(7)]
    assert refs("recent_events", gather_context(agent, session=session(agent))) == [made.ref for made in errors[:5]]


def test_an_event_found_twice_comes_once(agent: Agent) -> None:
    made = event(agent, 1, "error", session=session(agent))
    assert refs("recent_events", gather_context(agent)) == [made.ref]


def test_events_of_the_same_moment_have_one_order(agent: Agent) -> None:
    run = session(agent)
    events = sorted((event(agent, 1, session=run) for _ in range(5)), key=lambda made: made.id, reverse=True)
    assert refs("recent_events", gather_context(agent, session=run)) == [made.ref for made in events]


def test_filters_hold_for_highlights_too(agent: Agent) -> None:
    now, other = session(agent), session(agent, 9)
    for run in (now, other):
        for age in (1, 3):
            event(agent, age, "error", session=run)
            event(agent, age, "file_write", session=run)
    filters = RequestFilters(since=NOW - 2 * HOUR, event_types=frozenset({"error"}))
    kept = found("recent_events", gather_context(agent, session=now, filters=filters))
    assert [(candidate.kind, candidate.occurred_at) for candidate in kept] == [("error", NOW - HOUR)] * 2
    assert not found("recent_events", gather_context(agent, filters=RequestFilters(event_types=frozenset())))
    assert not found("recent_events", gather_context(agent, filters=RequestFilters(since=NOW - HOUR, event_types=None)))


def test_what_is_excluded_crowds_nothing_out(agent: Agent) -> None:
    run = session(agent)
    events = [event(agent, hours / 60, session=run) for hours in range(55)]
    filters = RequestFilters(exclude=tuple(str(made.id) for made in events[:3]))
    gathered = ask("recent_events", gather_context(agent, session=run, filters=filters))
    assert len(gathered.candidates) == 53
    assert gathered.limit == 53 + 5 * 8


def test_with_a_task_those_of_other_tasks_stay_out(agent: Agent) -> None:
    run, other = session(agent), session(agent, 9)
    root = frame(agent, "Ship it", session=run)
    current, done = frame(agent, "Test it", root, session=run), frame(agent, "Build it", root, session=run)
    mine, free = event(agent, 1, session=run, task=current), event(agent, 2, session=run)
    elsewhere = event(agent, 3, session=other, task=current)
    event(agent, 1, session=run, task=done)
    event(agent, 1, "error", session=other, task=root)
    wanted = gather_context(agent, session=run, task=current)
    assert refs("recent_events", wanted) == [mine.ref, free.ref, elsewhere.ref]
    assert ask("recent_events", wanted).limit == 50 + 50 + 25


def test_events_of_others_are_never_considered(agent: Agent) -> None:
    run = session(agent)
    event(stranger(), 1, "error", session=session(stranger()))
    event(stranger(), 1, session=run)  # however it got there
    assert not found("recent_events", gather_context(agent))
    assert not found("recent_events", gather_context(agent, session=run))


def test_it_takes_one_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    runs = [session(agent, hours) for hours in range(1, 9)]
    Event.objects.bulk_create(
        Event(agent=agent, session=run, type="error", content={}, size=2, occurred_at=NOW)
        for run in runs
        for _ in range(20)
    )
    with django_assert_num_queries(1):
        assert len(found("recent_events", gather_context(agent, session=runs[0]), "a", "b")) == 2 * (20 + 25)
