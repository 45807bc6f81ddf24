"""Known entities: the mentioned and the most salient."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from tests.assembly.sources.source_factories import (
    ask,
    completed_for,
    entity,
    found,
    gather_context,
    refs,
    stranger,
    texts,
)

pytestmark = pytest.mark.django_db


def test_the_most_salient_come_first_as_the_seed_words_them(agent: Agent) -> None:
    entity(agent, "Ada", 0.4)
    entity(agent, "AuthService", 0.9, type="service", properties={"port": 80, "language": "go"})
    assert texts("entities", gather_context(agent)) == [
        "**service**: AuthService (language: go, port: 80)",
        "**person**: Ada",
    ]


@pytest.mark.parametrize(
    "topic", ["What does ada lovelace do?", "Ada  Lovelace's work", "ask the countess!", "ADA LOVELACE"]
)
def test_what_is_mentioned_by_name_or_alias_counts_twice(agent: Agent, topic: str) -> None:
    entity(agent, "Ada Lovelace", 0.3, aliases=["The Countess"])
    [candidate] = found("entities", gather_context(agent, topic))
    assert candidate.score == 0.6
    assert candidate.measures["mentioned"] == candidate.measures["relevance"] == 1.0
    assert candidate.measures["salience"] == 0.3


def test_what_is_not_mentioned_counts_once(agent: Agent) -> None:
    entity(agent, "Ada Lovelace", 0.3)
    [candidate] = found("entities", gather_context(agent, "Who is Ada?"))
    assert (candidate.score, candidate.measures["mentioned"]) == (0.3, 0.0)
    assert candidate.measures["relevance"] == 1.0  # its text has the one keyword, ada


def test_ten_salient_ones_come_and_whatever_is_mentioned(agent: Agent) -> None:
    made = [entity(agent, f"Name{number}", 0.9 - number / 100) for number in range(12)]
    assert refs("entities", gather_context(agent)) == [salient.ref for salient in made[:10]]
    mentioned = ask("entities", gather_context(agent, "Name11 and Name0"))
    assert [candidate.ref for candidate in mentioned.candidates] == [*(one.ref for one in made[:10]), made[11].ref]
    assert mentioned.limit == 60


def test_one_name_may_stand_for_several(agent: Agent) -> None:
    for type_ in ("person", "service"):
        entity(agent, "Mercury", type=type_)
    assert [one.measures["mentioned"] for one in found("entities", gather_context(agent, "mercury"))] == [1.0, 1.0]


def test_only_wanted_types_come(agent: Agent) -> None:
    entity(agent, "Ada", type="person")
    entity(agent, "Auth", type="service")
    filters = RequestFilters(entity_types=frozenset({"service"}))
    assert texts("entities", gather_context(agent, "ada and auth", filters=filters)) == ["**service**: Auth"]
    assert not found("entities", gather_context(agent, "ada", filters=RequestFilters(entity_types=frozenset())))


def test_what_is_excluded_crowds_nothing_out(agent: Agent) -> None:
    made = [entity(agent, f"Name{number}") for number in range(12)]
    filters = RequestFilters(exclude=(str(made[0].id),))
    assert len(found("entities", gather_context(agent, filters=filters))) == 11


def test_entities_of_others_are_never_considered(agent: Agent) -> None:
    entity(stranger(), "Ada", 1.0)
    assert not found("entities", gather_context(agent, "ada"))


def test_mentions_are_looked_for_only_where_a_section_needs_them(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    entity(agent, "Ada")
    asked = gather_context(agent, "ada")
    with django_assert_num_queries(0):
        assert completed_for(asked, "tools").mentioned == ()
    with django_assert_num_queries(1):
        [mention] = completed_for(asked, "entities", "patterns").mentioned
    assert (mention.type, mention.name) == ("person", "Ada")


def test_it_takes_one_query_beside_the_one_for_the_mentioned(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    for number in range(15):
        entity(agent, f"Name{number}")
    with django_assert_num_queries(2):
        found("entities", gather_context(agent, "name1 name2"), "a", "b")
