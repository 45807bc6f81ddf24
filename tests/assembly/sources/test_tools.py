"""Tools: nearest to the topic first."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.models import Tool
from tests.assembly.sources.source_factories import ask, axis, found, gather_context, refs, stranger, texts, tool

pytestmark = pytest.mark.django_db


def test_a_tool_stands_with_its_schema(agent: Agent) -> None:
    tool(agent, "search", "Finds pages.", schema={"type": "object"})
    assert texts("tools", gather_context(agent)) == ['**search**: Finds pages.\n```json\n{"type":"object"}\n```']


def test_the_nearest_come_first_and_by_name_without_a_topic(agent: Agent) -> None:
    weather = tool(agent, "weather", "Tells rain and sunshine for a town")
    invoice = tool(agent, "bookkeeping", "Writes and pays an invoice")
    silent = Tool.objects.create(agent=agent, name="another")
    assert refs("tools", gather_context(agent, "Will it rain tomorrow?")) == [weather.ref, invoice.ref, silent.ref]
    assert refs("tools", gather_context(agent)) == [silent.ref, invoice.ref, weather.ref]


def test_similarity_is_boosted_by_keywords(agent: Agent) -> None:
    made = tool(agent, "invoice_pay", "Pays an invoice.")
    Tool.objects.filter(pk=made.pk).update(embedding=axis(0))
    wanted = gather_context(agent, "invoice pay tomorrow", vector=0.6 * axis(0) + 0.8 * axis(1))
    [candidate] = found("tools", wanted)
    assert candidate.similarity == pytest.approx(0.6)
    assert candidate.score == candidate.measures["relevance"] == pytest.approx(0.72)  # 0.6 x (1 + 2 x 0.1)
    assert candidate.measures["keyword_matches"] == 2
    [unsearched] = found("tools", gather_context(agent))
    assert (unsearched.similarity, unsearched.score) == (None, 0.0)


@pytest.mark.parametrize("topic", ["a topic", ""])
def test_twenty_come_and_more_where_some_are_excluded(agent: Agent, topic: str) -> None:
    made = [tool(agent, f"tool_{number}") for number in range(25)]
    assert len(found("tools", gather_context(agent, topic))) == 20
    gathered = ask("tools", gather_context(agent, topic, filters=RequestFilters(exclude=(made[0].ref,))))
    assert len(gathered.candidates) == gathered.limit == 21


def test_tools_of_others_are_never_considered(agent: Agent) -> None:
    tool(stranger(), "secret")
    assert not found("tools", gather_context(agent, "secret"))
    assert not found("tools", gather_context(agent))


def test_it_takes_one_query(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        tool(agent, f"tool_{number}")
    wanted = gather_context(agent, "a topic")
    with django_assert_num_queries(1):
        assert len(found("tools", wanted)) == 5
