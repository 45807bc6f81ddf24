"""Whatever a source can offer is of a kind that the registry knows, and each of its entries is complete."""

import pytest
from django.apps import apps
from django.urls import get_resolver

from agents.models import Agent
from assembly.engine.refs import Ref
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.sources import SOURCES
from assembly.sources.kinds import ITEM_KINDS, KINDS, ItemKind
from memories.models import Session
from memories.models.agent_item import AgentItem
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.one_of_each import everything

OF_REQUESTS = {"turn", "additional_context"}
"""Come with the request, and are of no table."""
WORDS = {"relation": "dries_on", "event": "message"}
"""Finds the item where it is not called so in one column."""
WITHOUT_KIND = {"turns", "additional_context", "external", "rule_inclusions", "project_structure"}
"""Sources of what comes with the request or from other servers, of what rules find among all the kinds, and of all
documents in one item.
"""


def test_every_source_has_a_kind() -> None:
    offered = [source for kind in ITEM_KINDS for source in (*kind.sources, *kind.team_sources)]
    assert set(offered) == SOURCES.keys() - WITHOUT_KIND
    assert {source for kind in ITEM_KINDS for source in kind.also_in} <= SOURCES.keys()


def test_every_table_of_items_has_a_kind() -> None:
    tables = {model for model in apps.get_models() if issubclass(model, AgentItem)} - {Session}
    assert tables <= {kind.model for kind in ITEM_KINDS}
    assert all(kind.name == kind.model.ref_kind for kind in ITEM_KINDS if kind.model in tables)


@pytest.mark.django_db
def test_whatever_a_context_is_made_of_has_a_kind() -> None:
    agent, team = everything()
    made = assemble(agent=agent, team=team, asked=AssemblyRequest(topic="ink", now=NOW), principal=SYSTEM)
    assert {Ref.parse(one.ref).kind for one in made.decisions} - OF_REQUESTS <= KINDS.keys()


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ITEM_KINDS, ids=lambda kind: kind.name)
def test_an_entry_is_complete(kind: ItemKind) -> None:
    agent, team = everything()
    rows = kind.rows(agents=Agent.objects.filter(id=agent.id), teams=[team.id])
    row = rows[0]
    assert kind.title(row)
    assert kind.mention(row)
    assert kind.sources_of(row)
    assert Ref.parse(row.ref) == Ref(kind.name, str(row.id), str(row.version))
    assert str(kind.many)
    assert not kind.rows(agents=[], teams=[]).exists()
    assert row.id in [found.id for found in kind.search(rows, WORDS.get(kind.name, kind.title(row)))]


@pytest.mark.parametrize("kind", [kind for kind in ITEM_KINDS if kind.page], ids=lambda kind: kind.name)
def test_a_kind_with_a_page_says_how_its_address_names_it(kind: ItemKind) -> None:
    [(possibilities, *_), *_] = get_resolver().reverse_dict.getlist(kind.page)
    [(_, arguments)] = possibilities
    named = kind.page_id or (kind.page_key or ("", ""))[1]
    assert named in arguments
