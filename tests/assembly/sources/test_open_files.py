"""Open files: whole, the last changed first."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from tests.assembly.sources.source_factories import ask, document, found, gather_context, refs, stranger, texts

pytestmark = pytest.mark.django_db


def test_an_open_file_stands_whole_under_its_path(agent: Agent) -> None:
    document(agent, "a.py", language="python", content="x = 1\n", is_open=True)
    document(agent, "closed.py", content="y = 2")
    assert texts("open_files", gather_context(agent)) == ["**a.py**\n```python\nx = 1\n```"]


def test_the_last_changed_come_first(agent: Agent) -> None:
    made = [document(agent, f"{hours}.md", hours, is_open=True) for hours in range(1, 13)]
    gathered = ask("open_files", gather_context(agent))
    assert [candidate.ref for candidate in gathered.candidates] == [open_.ref for open_ in made[:10]]
    assert gathered.limit == 10
    filters = RequestFilters(exclude=(made[0].ref,))
    assert len(found("open_files", gather_context(agent, filters=filters))) == 11


def test_a_file_is_scored_by_its_recency_and_measured_against_the_query(agent: Agent) -> None:
    document(agent, "login.py", 24, content="timeout = 5", is_open=True)
    [candidate] = found("open_files", gather_context(agent, "Fix the login timeout"))
    assert candidate.score == pytest.approx(0.36788, rel=1e-4)  # exp(-1)
    assert candidate.measures["relevance"] == pytest.approx(2 / 3)  # of fix, login and timeout


def test_files_of_others_are_never_considered(agent: Agent) -> None:
    document(stranger(), "secret.py", is_open=True)
    assert not found("open_files", gather_context(agent))


def test_it_takes_one_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        document(agent, f"{number}.md", is_open=True)
    with django_assert_num_queries(1):
        assert len(refs("open_files", gather_context(agent), "a", "b")) == 10
