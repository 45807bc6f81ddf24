"""The table of memories is divided into partitions while it is used."""

from io import StringIO

import pytest
from django.core.management import call_command

from agents.services import agent_create
from config.db.statements import fetch_rows
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.usefixtures("committed_database")


def partition_tables(*arguments: str) -> str:
    out = StringIO()
    call_command("partition_tables", *arguments, stdout=out)
    return out.getvalue()


def test_all_rows_are_in_the_partitions_afterwards() -> None:
    for slug in ("mira", "otto", "ada"):
        agent = agent_create(slug=slug, name=slug)
        facts = [MemoryFacts(kind="fact", text=f"Roll {number} of paper dries.") for number in range(50)]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)
    before = list(Memory.everything.order_by("id").values())
    print(partition_tables("--batch", "20"))
    assert list(Memory.everything.order_by("id").values()) == before
    print(fetch_rows("SELECT tableoid::regclass::text, count(*) FROM memories GROUP BY 1"))
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    assert MemoryVersion.objects.count() == 200
    assert 0
