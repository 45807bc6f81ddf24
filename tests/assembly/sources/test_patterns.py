"""Applicable patterns: by keyword, intent or the type of what is mentioned."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from tests.assembly.sources.source_factories import ask, entity, found, gather_context, pattern, stranger, texts

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("conditions", "topic", "applies"),
    [
        ({"keywords": ["Login"]}, "the login page", True),
        ({"keywords": ["unit test"]}, "Write a unit test!", True),
        ({"keywords": ["refund"]}, "the login page", False),
        ({"intents": ["fix"]}, "fix it", True),
        ({"intents": ["fix"]}, "write it", False),
        ({"entity_types": ["service"]}, "about AuthService", True),
        ({"entity_types": ["person"]}, "about AuthService", False),
        ({"keywords": ["refund"], "intents": ["fix"]}, "fix it", True),
        ({"keywords": ["refund"]}, "", False),
        ({"intents": ["other"]}, "", True),
        ({}, "anything", False),
    ],
)
def test_a_pattern_applies_where_one_of_its_conditions_holds(
    agent: Agent, conditions: dict[str, Any], topic: str, applies: bool
) -> None:
    entity(agent, "AuthService", type="service")
    pattern(agent, "Try it", **conditions)
    assert bool(found("patterns", gather_context(agent, topic))) is applies


def test_the_most_successful_come_first_and_the_untried_last(agent: Agent) -> None:
    for name, successes, applications in (("Never", 0, 0), ("Half", 5, 10), ("Often", 8, 10), ("Once", 1, 2)):
        pattern(agent, name, successes, applications, intents=["fix"])
    assert texts("patterns", gather_context(agent, "fix it")) == [
        "**Often**: Do it. (worked 8 of 10 times)",
        "**Half**: Do it. (worked 5 of 10 times)",
        "**Once**: Do it. (worked 1 of 2 times)",
        "**Never**: Do it.",
    ]


def test_a_pattern_is_scored_by_its_success_and_says_why_it_applies(agent: Agent) -> None:
    entity(agent, "AuthService", type="service")
    conditions: dict[str, Any] = {
        "keywords": ["login", "page", "refund"],
        "intents": ["explain"],
        "entity_types": ["service"],
    }
    pattern(agent, "Try it", 3, 4, **conditions)
    [candidate] = found("patterns", gather_context(agent, "Fix the login page of AuthService"))
    assert candidate.score == candidate.measures["credibility"] == 0.75
    assert candidate.measures["relevance"] == pytest.approx(2 / 3)  # keywords and type match, the intent does not
    assert (candidate.measures["successes"], candidate.measures["applications"]) == (3.0, 4.0)
    assert (candidate.measures["keyword_matches"], candidate.measures["intent_match"]) == (2.0, 0.0)
    assert candidate.measures["type_matches"] == 1.0


def test_twenty_come_and_more_where_some_are_excluded(agent: Agent) -> None:
    made = [pattern(agent, f"Pattern {number}", intents=["fix"]) for number in range(25)]
    assert len(found("patterns", gather_context(agent, "fix it"))) == 20
    gathered = ask("patterns", gather_context(agent, "fix it", filters=RequestFilters(exclude=(str(made[0].id),))))
    assert len(gathered.candidates) == gathered.limit == 21


def test_patterns_of_others_are_never_considered(agent: Agent) -> None:
    pattern(stranger(), "Secret", intents=["fix"])
    assert not found("patterns", gather_context(agent, "fix it"))


def test_it_takes_one_query_beside_the_one_for_the_mentioned(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(5):
        pattern(agent, f"Pattern {number}", intents=["fix"])
    with django_assert_num_queries(2):
        assert len(found("patterns", gather_context(agent, "fix it"))) == 5
