"""The services of what an agent keeps, as imports and pages call them."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_delete
from config.http.errors import Conflict, Invalid, NotFound
from memories.api.urls import ENDPOINTS
from memories.models import Entity, Event, Session, Tool
from memories.models.embedding import Embedded
from memories.services import InvalidBatch, agent_item_delete, agent_item_update, agent_items_create, events_create
from teams.models import User
from teams.principal import SYSTEM
from teams.sealing.names import SealedName
from teams.versioned_text.versioned_file import StaleVersion
from tests.memories.agent_items import FACTS, ONCE, things_of

pytestmark = pytest.mark.django_db


def entities(agent: Agent, *names: str) -> list[Entity]:
    facts = [{"type": "Person", "name": name} for name in names]
    return agent_items_create(model=Entity, agent=agent, facts=facts, principal=SYSTEM)


def test_things_are_signed_by_who_made_and_changed_them(agent: Agent, editor: User) -> None:
    [ada] = entities(agent, "Ada")
    assert (ada.updated_by, ada.editor_name) == ("system", "Dossier")
    changes = {"salience": 0.9}
    saved = agent_item_update(thing=ada, expected_version=1, changes=changes, principal=editor.principal)
    assert (saved.updated_by, saved.editor_name, saved.version) == ("user", "Edda Editor", 2)
    again = agent_item_update(thing=ada, expected_version=2, changes=changes, principal=SYSTEM)
    assert (again.editor_name, again.version, again.updated) == ("Edda Editor", 2, saved.updated)
    with pytest.raises(StaleVersion):
        agent_item_update(thing=ada, expected_version=1, changes={"salience": 0.1}, principal=SYSTEM)


def test_nothing_is_made_of_nothing(agent: Agent) -> None:
    assert [agent_items_create(model=noun.model, agent=agent, facts=[], principal=SYSTEM) for noun in ENDPOINTS] == [
        []
    ] * 9


def test_of_two_with_one_external_id_the_first_is_kept(agent: Agent) -> None:
    facts = [{"type": "Person", "name": name, "external_id": id_} for name, id_ in (("A", "1"), ("B", "1"), ("C", ""))]
    made = agent_items_create(model=Entity, agent=agent, facts=facts, principal=SYSTEM)
    assert [entity.name for entity in made] == ["A", "C"]
    assert agent_items_create(model=Entity, agent=agent, facts=facts[:2], principal=SYSTEM) == []


def test_flaws_name_the_places_of_what_was_given(agent: Agent) -> None:
    known = {"type": "message", "content": {}, "external_id": "x"}
    agent_items_create(model=Event, agent=agent, facts=[known], principal=SYSTEM)
    bad = {"type": "tool_result", "content": {}}
    with pytest.raises(InvalidBatch) as unfit:
        events_create(agent=agent, facts=[known, bad, known, bad], principal=SYSTEM)
    assert [(flaw.place, flaw.field) for flaw in unfit.value.flaws] == [(1, "tool"), (3, "tool")]
    assert set(unfit.value.among("items").extra["errors"]) == {"items.1.tool", "items.3.tool"}
    assert isinstance(unfit.value, Invalid)


def test_a_name_that_is_taken_is_a_conflict_and_the_transaction_goes_on(agent: Agent) -> None:
    ada, bob = entities(agent, "Ada", "Bob")
    with pytest.raises(Conflict, match="type “Person”, name “Ada”"):
        entities(agent, "Carl", "Ada")
    with pytest.raises(Conflict, match="This entity exists already"):
        entities(agent, "Dora", "Dora")
    with pytest.raises(Conflict):
        agent_item_update(thing=bob, expected_version=1, changes={"name": "Ada"}, principal=SYSTEM)
    assert set(Entity.objects.values_list("name", "version")) == {("Ada", 1), ("Bob", 1)}
    assert ada.names == ["ada"]


def test_a_text_without_any_direction_is_kept(agent: Agent) -> None:
    [tool] = agent_items_create(model=Tool, agent=agent, facts=[{"name": "\u0301"}], principal=SYSTEM)
    tool.refresh_from_db()
    assert tool.name == "\u0301"


def test_what_is_gone_cannot_be_changed_or_deleted(agent: Agent) -> None:
    [ada] = entities(agent, "Ada")
    agent_item_delete(thing=ada, principal=SYSTEM)
    with pytest.raises(NotFound):
        agent_item_delete(thing=ada, principal=SYSTEM)
    with pytest.raises(NotFound):
        agent_item_update(thing=ada, expected_version=1, changes={}, principal=SYSTEM)
    agent_delete(agent=agent, principal=SYSTEM)
    with pytest.raises(NotFound):
        entities(agent, "Ada")


@pytest.mark.parametrize("noun", ENDPOINTS, ids=lambda noun: noun.name)
def test_a_thousand_take_as_many_statements_as_two(noun: Any, agent: Agent, django_assert_num_queries: Any) -> None:
    things = things_of(agent)
    named = {"relations": {"source": things["entities"], "target": things["entities"]}}.get(noun.name, {})
    facts = [
        {**FACTS[noun.name], **named, **dict.fromkeys(ONCE[noun.name], f"n{number}"), "external_id": f"x-{number}"}
        for number in range(1000)
    ]
    # the agent's lock, what is there, the insert between two pairs of savepoints; what is named by its id; the space
    # of what is found by its meaning; what is compared is noted; whether there are sealed names
    sealed = any(isinstance(field, SealedName) for field in noun.model._meta.fields)
    more = len(named) + issubclass(noun.model, Embedded) + noun.model.is_announced + sealed
    with django_assert_num_queries(7 + more):
        assert len(agent_items_create(model=noun.model, agent=agent, facts=facts, principal=SYSTEM)) == 1000


def test_a_session_that_is_there_is_not_made_again(agent: Agent) -> None:
    [known] = agent_items_create(model=Session, agent=agent, facts=[{"external_id": "a"}], principal=SYSTEM)
    facts = [{"type": "message", "content": {}, "session_key": "a"}]
    [event] = events_create(agent=agent, facts=facts, principal=SYSTEM)
    assert event.session_id == known.id
