"""The task stack: from the root goal down to the current one."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import GatherContext, RequestFilters
from memories.models import Session, TaskFrame
from tests.assembly.sources.source_factories import ask, completed_for, found, frame, gather_context, session, stranger

pytestmark = pytest.mark.django_db

KEYS = ("task_root", "task_path", "sibling_results", "current_task")


def stack(agent: Agent, run: Session | None = None) -> TaskFrame:
    """Five frames deep, the third of them blocked and the second done; the current one has two results beside it."""
    root = frame(agent, "Ship it", session=run)
    done = frame(agent, "Plan it", root, session=run, status="complete", result="Planned.")
    blocked = frame(agent, "Build it", done, session=run, status="blocked")
    above = frame(agent, "Test it", blocked, session=run)
    for goal, status, result in (("Unit", "complete", "Units pass."), ("Browser", "complete", "Pages load.")):
        frame(agent, goal, above, session=run, status=status, result=result)
    frame(agent, "Later", above, session=run, status="blocked")
    return frame(agent, "Load test", above, session=run)


def shown(wanted: GatherContext, *keys: str) -> dict[str, list[str]]:
    by_section: dict[str, list[str]] = {}
    for candidate in found("task_stack", wanted, *keys or KEYS):
        by_section.setdefault(candidate.section, []).append(candidate.text)
    return by_section


def test_each_section_gets_its_frames_in_order(agent: Agent) -> None:
    current = stack(agent)
    assert shown(gather_context(agent)) == {
        "task_root": ["Ship it"],
        "task_path": ["Planned.", "Build it", "Test it"],
        "sibling_results": ["Units pass.", "Pages load."],
        "current_task": ["Load test"],
    }
    candidates = found("task_stack", gather_context(agent), *KEYS)
    assert [candidate.position for candidate in candidates] == [0, 0, 1, 2, 0, 1, 0]
    assert candidates[-1].ref == current.ref
    assert candidates[-1].kind == "active"


def test_a_session_has_a_stack_of_its_own(agent: Agent) -> None:
    run = session(agent)
    stack(agent, run)
    frame(agent, "My own")
    assert shown(gather_context(agent, session=run))["task_root"] == ["Ship it"]
    assert shown(gather_context(agent)) == {"task_root": ["My own"]}
    assert shown(gather_context(agent, session=session(agent))) == {}


def test_a_root_that_is_current_is_shown_once(agent: Agent) -> None:
    frame(agent, "Before", status="complete", result="Done before.")
    frame(agent, "Ship it")
    assert shown(gather_context(agent)) == {"task_root": ["Ship it"], "sibling_results": ["Done before."]}
    assert shown(gather_context(agent), "current_task") == {"current_task": ["Ship it"]}


def test_an_empty_stack_has_nothing(agent: Agent) -> None:
    frame(agent, "Over", status="complete", result="Done.")
    assert shown(gather_context(agent)) == {}


def test_twenty_results_come_the_newest_and_more_where_some_are_excluded(agent: Agent) -> None:
    root = frame(agent, "Ship it")
    done = [frame(agent, "x", root, status="complete", result=f"Result {number}") for number in range(25)]
    frame(agent, "Load test", root)
    assert shown(gather_context(agent))["sibling_results"] == [f"Result {number}" for number in range(5, 25)]
    gathered = ask("task_stack", gather_context(agent, filters=RequestFilters(exclude=(done[24].ref,))), *KEYS)
    assert sum(candidate.section == "sibling_results" for candidate in gathered.candidates) == 21
    assert len(gathered.candidates) <= gathered.limit


def test_tasks_of_others_are_never_considered(agent: Agent) -> None:
    stack(stranger())
    assert shown(gather_context(agent)) == {}


def test_without_a_topic_the_current_goal_is_the_query(agent: Agent) -> None:
    frame(agent, "Fix the login timeout")
    asked = completed_for(gather_context(agent, "  "), "task_stack")
    assert asked.topic == "Fix the login timeout"
    assert asked.signals.keywords == ("fix", "login", "timeout")
    assert completed_for(gather_context(agent, "refunds"), "task_stack").signals.keywords == ("refunds",)


def test_the_task_is_looked_for_only_where_a_section_needs_it(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    frame(agent, "Fix the login timeout")
    with django_assert_num_queries(0):
        assert completed_for(gather_context(agent), "recent_events").task is None


def test_it_takes_two_queries_beside_the_one_for_the_current_task(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    stack(agent)
    with django_assert_num_queries(3):
        found("task_stack", gather_context(agent), *KEYS)


def test_the_root_is_told_as_goal_although_it_is_complete(agent: Agent) -> None:
    root = frame(agent, "Ship it", status="complete", result="Shipped.")
    frame(agent, "Thank everybody", root)
    (candidate,) = found("task_stack", completed_for(gather_context(agent)), "task_root")
    assert candidate.text == "Ship it"
