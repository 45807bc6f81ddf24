"""Relevant content: the pieces of documents nearest to the topic."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from memories.models import Chunk
from tests.assembly.conftest import NOW
from tests.assembly.sources.source_factories import (
    HOUR,
    ask,
    axis,
    chunk,
    document,
    found,
    gather_context,
    refs,
    stranger,
    texts,
)

pytestmark = pytest.mark.django_db

CAT, INVOICE = "The kitten chased a mouse.", "The invoice was paid late."


def test_the_nearest_come_first_and_say_where_they_are_from(agent: Agent) -> None:
    made = document(agent, "notes.md", version=3)
    chunk(made, INVOICE)
    chunk(made, CAT, position=1)
    wanted = gather_context(agent, "Which animal did the cat hunt?")
    assert texts("semantic_content", wanted) == [f"notes.md:11\n{CAT}", f"notes.md:1\n{INVOICE}"]
    assert refs("semantic_content", wanted) == [f"chunk:{made.id}@3#1", f"chunk:{made.id}@3#0"]


@pytest.mark.parametrize(("hours_ago", "boosts"), [(48, 1.1), (23, 1.32)])  # one keyword: 1.1; young: 1.1 x 1.2
def test_similarity_is_boosted_by_keywords_and_age(agent: Agent, hours_ago: float, boosts: float) -> None:
    made = chunk(document(agent, "notes.md", hours_ago), "The invoice")
    Chunk.objects.filter(pk=made.pk).update(embedding=axis(0))
    vector = 0.6 * axis(0) + 0.8 * axis(1)  # a cosine of 0.6
    [candidate] = found("semantic_content", gather_context(agent, "invoice", vector=vector))
    assert candidate.similarity == pytest.approx(0.6)
    assert candidate.score == pytest.approx(0.6 * boosts)
    assert candidate.occurred_at == NOW - hours_ago * HOUR
    assert candidate.measures["relevance"] == pytest.approx(0.6 * boosts)
    assert candidate.measures["keyword_matches"] == 1
    assert candidate.measures["boosts"] == pytest.approx(boosts)


def test_without_a_direction_those_of_the_documents_changed_last_come(agent: Agent) -> None:
    old, new = document(agent, "old.md", 72), document(agent, "new.md", 24)
    chunks = [chunk(new, CAT), chunk(new, CAT, position=1), chunk(old, CAT)]
    candidates = found("semantic_content", gather_context(agent))
    assert [candidate.ref for candidate in candidates] == [made.ref for made in chunks]
    assert [candidate.similarity for candidate in candidates] == [None] * 3
    assert candidates[0].score == pytest.approx(0.36788, rel=1e-4)  # its recency: exp(-1)


def test_what_has_no_direction_is_not_found_by_one(agent: Agent) -> None:
    made = chunk(document(agent, "signs.md"), "~")
    Chunk.objects.filter(pk=made.pk).update(embedding=None)
    assert not found("semantic_content", gather_context(agent, CAT))
    assert len(found("semantic_content", gather_context(agent))) == 1


@pytest.mark.parametrize("topic", [CAT, ""])
def test_twenty_come_and_more_where_some_are_excluded(agent: Agent, topic: str) -> None:
    made = document(agent, "notes.md")
    chunks = [chunk(made, f"{CAT} {position}", position) for position in range(25)]
    assert len(found("semantic_content", gather_context(agent, topic))) == 20
    filters = RequestFilters(exclude=(chunks[0].ref, chunks[1].ref))
    gathered = ask("semantic_content", gather_context(agent, topic, filters=filters))
    assert len(gathered.candidates) == gathered.limit == 22


def test_equally_near_ones_have_one_order(agent: Agent) -> None:
    made = document(agent, "notes.md")
    chunks = [chunk(made, CAT, position) for position in range(5)]
    assert refs("semantic_content", gather_context(agent, CAT)) == [same.ref for same in chunks]


@pytest.mark.parametrize("topic", [CAT, ""])
def test_content_of_others_is_never_considered(agent: Agent, topic: str) -> None:
    chunk(document(stranger(), "secret.md"), CAT)
    assert not found("semantic_content", gather_context(agent, topic))


@pytest.mark.parametrize("topic", [CAT, ""])
def test_it_takes_one_query(
    agent: Agent, topic: str, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        chunk(document(agent, f"{number}.md"), CAT)
    wanted = gather_context(agent, topic)
    with django_assert_num_queries(1):
        assert len(found("semantic_content", wanted)) == 5
