"""What the database itself refuses about memories."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memory_create, memory_delete, memory_update
from teams.models import Team
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

FACTS = MemoryFacts(kind="fact", text="Refunds take five days.")


@pytest.mark.parametrize(
    ("owners", "facts", "constraint"),
    [
        ({}, {}, "memory_one_owner"),
        ({"agent", "team"}, {}, "memory_one_owner"),
        ({"agent"}, {"salience": 1.1}, "memory_unit_ranges"),
        ({"agent"}, {"salience": float("nan")}, "memory_unit_ranges"),
        ({"team"}, {"credibility": -0.1}, "memory_unit_ranges"),
        ({"agent"}, {"external_id": "taken"}, "memory_import_once_agent"),
        ({"team"}, {"external_id": "taken"}, "memory_import_once_team"),
    ],
)
def test_a_row_that_cannot_be_is_refused(
    owners: set[str], facts: dict[str, Any], constraint: str, agent: Agent, team: Team
) -> None:
    for owner in (agent, team):
        memory_create(owner=owner, facts=MemoryFacts(kind="fact", text="x", external_id="taken"), principal=SYSTEM)
    both = {"agent": agent, "team": team}
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Memory.objects.create(kind="fact", text="x", **{name: both[name] for name in owners}, **facts)


def test_a_deleted_successor_lets_the_old_one_stand(agent: Agent) -> None:
    old, new = (memory_create(owner=agent, facts=FACTS, principal=SYSTEM) for _ in range(2))
    memory_update(memory=old, expected_version=1, facts=FACTS, superseded_by=new, principal=SYSTEM)
    memory_delete(memory=new, principal=SYSTEM)
    old.refresh_from_db()
    assert old.superseded_by_id is None


def test_a_text_without_any_direction_is_kept(agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="\u0301"), principal=SYSTEM)
    memory.refresh_from_db()
    assert memory.text == "\u0301"
