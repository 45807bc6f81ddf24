"""Entities, relations and the graph that they are, over REST."""

import uuid
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from memories.models import Entity, Relation
from memories.search.graph_walk import MAX_ENTITIES, MOST_SALIENT, load_graph_around
from memories.services import agent_items_create
from teams.principal import SYSTEM
from tests.client import Api, errors_of
from tests.memories.agent_items import things_of

pytestmark = pytest.mark.django_db


def known(api: Api, name: str, **facts: Any) -> str:
    response = api.post("agents/ada/entities", {"type": "Person", "name": name, **facts})
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def related(api: Api, source: str, target: str, type_: str = "knows", **facts: Any) -> str:
    body = {"source": source, "target": target, "type": type_, **facts}
    response = api.post("agents/ada/relations", body)
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


@pytest.mark.parametrize("name", ["ada lovelace", "ADA  LOVELACE", "the%20countess", "The Countess"])
def test_an_entity_is_found_by_its_name_or_an_alias(name: str, agent: Agent, agent_api: Api) -> None:
    ada = known(agent_api, "Ada Lovelace", aliases=["The Countess", "Ada"])
    known(agent_api, "Ada Lovelace the second")
    found = agent_api.get(f"agents/ada/entities?name={name}".replace(" ", "%20")).json()["results"]
    assert [row["id"] for row in found] == [ada]


def test_a_new_name_is_found_and_the_old_one_no_more(agent: Agent, agent_api: Api) -> None:
    ada = known(agent_api, "Ada Byron")
    before = Entity.objects.get().embedding
    changes = {"name": "Ada Lovelace", "aliases": ["Countess"], "properties": {"born": 1815}}
    agent_api.patch(f"agents/ada/entities/{ada}", changes, if_match='"1"')
    assert agent_api.get("agents/ada/entities?name=byron").json()["results"] == []
    assert agent_api.get("agents/ada/entities?name=Ada%20Byron").json()["results"] == []
    assert len(agent_api.get("agents/ada/entities?name=countess").json()["results"]) == 1
    assert list(Entity.objects.get().embedding) != list(before)


def test_entities_and_relations_are_narrowed_by_type(agent: Agent, agent_api: Api) -> None:
    ada, engine = known(agent_api, "Ada"), known(agent_api, "Engine", type="Machine")
    knows, built = related(agent_api, ada, ada), related(agent_api, engine, ada, "built_by")
    ids = {
        query: {row["id"] for row in agent_api.get(f"agents/ada/{query}").json()["results"]}
        for query in ("entities?type=Machine", "entities?type=machine", "relations?type=knows",
                      f"relations?entity={engine}", f"relations?entity={ada}", f"relations?entity={uuid.uuid4()}")
    }  # fmt: skip
    assert list(ids.values()) == [{engine}, set(), {knows}, {built}, {knows, built}, set()]


def test_a_relation_stands_between_entities_of_the_same_agent(agent: Agent, agent_api: Api) -> None:
    ada, bobs = known(agent_api, "Ada"), things_of(agent_create(slug="bob", name="Bob"))["entities"]
    answers = [
        agent_api.post("agents/ada/relations", {"type": "knows", "source": ada, "target": str(target)})
        for target in (bobs.id, uuid.uuid4())
    ]
    assert [errors_of(answer) for answer in answers] == [{"target"}, {"target"}]
    assert answers[0].json()["errors"] == answers[1].json()["errors"]
    both = {"type": "knows", "source": str(bobs.id), "target": str(bobs.id)}
    assert errors_of(agent_api.post("agents/ada/relations/batch", {"items": [both]})) == {
        "items.0.source", "items.0.target",
    }  # fmt: skip


def test_a_deleted_entity_takes_its_relations_along(agent: Agent, agent_api: Api) -> None:
    ada, bob = known(agent_api, "Ada"), known(agent_api, "Bob")
    related(agent_api, ada, bob)
    assert agent_api.delete(f"agents/ada/entities/{bob}").status_code == 204
    assert not Relation.objects.exists()


def test_true_is_no_1(agent: Agent, agent_api: Api) -> None:
    ada = known(agent_api, "Ada", properties={"here": 1})
    changed = agent_api.patch(f"agents/ada/entities/{ada}", {"properties": {"here": True}}, if_match='"1"').json()
    assert (changed["version"], changed["properties"]) == (2, {"here": True})


@pytest.fixture
def chain(agent: Agent, agent_api: Api) -> list[str]:
    """a → b ← c → d → e, and f alone."""
    a, b, c, d, e, f = (known(agent_api, name) for name in "abcdef")
    for source, target in ((a, b), (c, b), (c, d), (d, e)):
        related(agent_api, source, target)
    return [a, b, c, d, e, f]


@pytest.mark.parametrize(
    ("query", "names", "relations"), [("", "ab", 1), ("&depth=2", "abc", 2), ("&depth=3", "abcd", 3)]
)
def test_the_graph_grows_with_the_depth_nearest_first(
    query: str, names: str, relations: int, chain: list[str], agent_api: Api
) -> None:
    graph = agent_api.get(f"agents/ada/graph?entity={chain[0]}{query}").json()
    assert "".join(entity["name"] for entity in graph["entities"]) == names
    assert len(graph["relations"]) == relations


def test_circles_and_loops_end(chain: list[str], agent_api: Api) -> None:
    related(agent_api, chain[4], chain[0])
    related(agent_api, chain[0], chain[0])
    graph = agent_api.get(f"agents/ada/graph?entity={chain[0]}&depth=3").json()
    assert {entity["name"] for entity in graph["entities"]} == set("abcde")
    assert len(graph["relations"]) == 6


def test_the_whole_graph_shows_the_most_salient(chain: list[str], agent: Agent, agent_api: Api) -> None:
    agent_api.patch(f"agents/ada/entities/{chain[3]}", {"salience": 1}, if_match='"1"')
    graph = agent_api.get("agents/ada/graph").json()
    assert graph["entities"][0]["name"] == "d"
    assert len(graph["entities"]) == 6
    many = [{"type": "Number", "name": str(number)} for number in range(MOST_SALIENT)]
    agent_items_create(model=Entity, agent=agent, facts=many, principal=SYSTEM)
    assert len(agent_api.get("agents/ada/graph").json()["entities"]) == MOST_SALIENT


def test_a_hub_shows_two_hundred_in_three_queries(agent: Agent, django_assert_num_queries: Any) -> None:
    names = [{"type": "Number", "name": str(number), "salience": number / 300} for number in range(300)]
    hub, *others = agent_items_create(model=Entity, agent=agent, facts=names, principal=SYSTEM)
    facts = [{"source": hub, "target": other, "type": "has"} for other in others]
    agent_items_create(model=Relation, agent=agent, facts=facts, principal=SYSTEM)
    with django_assert_num_queries(3):
        graph = load_graph_around(agent=agent, entity=hub, depth=2)
    assert [entity.name for entity in graph.entities[:3]] == ["0", "299", "298"]
    assert (len(graph.entities), len(graph.relations)) == (MAX_ENTITIES, MAX_ENTITIES - 1)


def test_the_graph_of_another_agent_is_not_reached(agent: Agent, agent_api: Api) -> None:
    bobs = things_of(agent_create(slug="bob", name="Bob"))["entities"]
    assert errors_of(agent_api.get(f"agents/ada/graph?entity={bobs.id}")) == {"entity"}
