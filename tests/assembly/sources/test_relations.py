"""Relationships: a walk of the graph, breadth-first."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

import pytest

from agents.models import Agent
from assembly.sources.base import RequestFilters
from assembly.sources.relations import LIMIT
from memories.models import Entity, Relation
from tests.assembly.sources.source_factories import ask, entity, found, gather_context, refs, relation, stranger, texts

pytestmark = pytest.mark.django_db


def chain(agent: Agent, *names: str) -> list[Entity]:
    """Entities of which each knows the next; twelve others matter more than all of them."""
    for number in range(12):
        entity(agent, f"Salient{number}", 0.9)
    made = [entity(agent, name, 0.1) for name in names]
    for source, target in pairwise(made):
        relation(source, target)
    return made


def depths(agent: Agent, topic: str, limit: int) -> dict[str, float]:
    candidates = found("relations", gather_context(agent, topic, depth_limit=limit))
    return {candidate.text: candidate.measures["depth"] for candidate in candidates}


def test_relations_name_their_ends(agent: Agent) -> None:
    ada, ben = entity(agent, "Ada"), entity(agent, "Ben")
    relation(ada, ben, 0.9)
    relation(ada, ben, 0.4, type="married_to", directed=False)
    candidates = found("relations", gather_context(agent, "Whom does Ada know?"))
    assert [candidate.text for candidate in candidates] == ["Ada --[knows]--> Ben", "Ada --[married_to]-- Ben"]
    assert [candidate.score for candidate in candidates] == [0.9, 0.4]
    assert [candidate.kind for candidate in candidates] == ["knows", "married_to"]
    assert candidates[0].measures["weight"] == candidates[0].measures["salience"] == 0.9
    assert candidates[0].measures["relevance"] == 1.0  # the keywords ada and know stand in it


@pytest.mark.parametrize(
    ("limit", "reached"),
    [
        (0, {}),
        (1, {"Ada --[knows]--> Ben": 1.0}),
        (2, {"Ada --[knows]--> Ben": 1.0, "Ben --[knows]--> Cid": 2.0}),
        (3, {"Ada --[knows]--> Ben": 1.0, "Ben --[knows]--> Cid": 2.0, "Cid --[knows]--> Dee": 3.0}),
    ],
)
def test_the_walk_goes_as_deep_as_it_may(agent: Agent, limit: int, reached: dict[str, float]) -> None:
    chain(agent, "Ada", "Ben", "Cid", "Dee", "Eve")
    assert depths(agent, "ada", limit) == reached


def test_it_walks_against_the_direction_too(agent: Agent) -> None:
    chain(agent, "Ada", "Ben", "Cid")
    assert depths(agent, "cid", 2) == {"Ben --[knows]--> Cid": 1.0, "Ada --[knows]--> Ben": 2.0}


def test_a_relation_comes_once_at_its_smallest_depth_even_in_a_circle(agent: Agent) -> None:
    ada, _, cid = chain(agent, "Ada", "Ben", "Cid")
    relation(cid, ada)
    relation(ada, ada, type="trusts")
    assert depths(agent, "ada", 5) == {
        "Ada --[knows]--> Ben": 1.0,
        "Cid --[knows]--> Ada": 1.0,
        "Ada --[trusts]--> Ada": 1.0,
        "Ben --[knows]--> Cid": 2.0,
    }


def test_it_begins_at_the_most_salient_as_well(agent: Agent) -> None:
    relation(entity(agent, "Ada", 0.9), entity(agent, "Ben", 0.1))
    assert texts("relations", gather_context(agent)) == ["Ada --[knows]--> Ben"]


def test_only_wanted_types_are_a_beginning(agent: Agent) -> None:
    relation(entity(agent, "Ada"), entity(agent, "Ben"))
    filters = RequestFilters(entity_types=frozenset({"service"}))
    assert not found("relations", gather_context(agent, "ada", filters=filters))
    relation(entity(agent, "Auth", type="service"), entity(agent, "Cid"))
    assert texts("relations", gather_context(agent, filters=filters)) == ["Auth --[knows]--> Cid"]


def test_the_strongest_come(agent: Agent) -> None:
    hub, others = entity(agent, "Hub", 1.0), [entity(agent, f"Leaf{number}") for number in range(LIMIT + 10)]
    made = Relation.objects.bulk_create(
        Relation(agent=agent, source=hub, target=leaf, type="has", weight=1 - number / 1000)
        for number, leaf in enumerate(others)
    )
    assert refs("relations", gather_context(agent)) == [strong.ref for strong in made[:LIMIT]]
    gathered = ask("relations", gather_context(agent, filters=RequestFilters(exclude=(made[0].ref,))))
    assert len(gathered.candidates) == gathered.limit == LIMIT + 1


def test_of_equally_strong_ones_the_nearer_come_first_then_the_older(agent: Agent) -> None:
    ada, *_ = chain(agent, "Ada", "Ben", "Cid")
    dee = entity(agent, "Dee", 0.1)
    relation(ada, dee)
    assert list(depths(agent, "ada", 2)) == ["Ada --[knows]--> Ben", "Ada --[knows]--> Dee", "Ben --[knows]--> Cid"]


def test_relations_of_others_are_never_considered(agent: Agent) -> None:
    ada = entity(agent, "Ada")
    far = stranger()
    relation(entity(far, "Ada"), entity(far, "Ben"))
    Relation.objects.create(agent=far, source=entity(far, "Cid"), target=ada, type="knows")  # however it got there
    assert not found("relations", gather_context(agent, "ada"))


def test_it_takes_one_query_beside_the_one_for_the_mentioned(
    agent: Agent, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    chain(agent, *"abcdefgh")
    with django_assert_num_queries(2):
        assert len(found("relations", gather_context(agent, "a b", depth_limit=3), "x", "y")) == 2 * 4
