"""The migration to packed records keeps every decision, there and back."""

import pytest
from django.core.management import call_command
from django.db import connections

from agents.models import Agent
from assembly.models import Assembly, StoredProfile
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import StoredAssembly, load_record, replay
from assembly.sources.base import ConversationTurn
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create

TURNS = "{key: turns, heading: Turns, layer: L6, source: turns, shape: turns}"
SHORT = f"over_budget: [compact, summarise]\nsections:\n  - {TURNS}\n"
SAID = "The stage is made of oak. It stands in the hall. The hall has a stage of oak and a door. " * 4


def told() -> dict[str, StoredAssembly]:
    return {str(assembly.id): load_record(assembly) for assembly in Assembly.objects.all()}


@pytest.mark.deep
@pytest.mark.usefixtures("committed_database")
def test_records_go_there_and_back(agent: Agent, team: Team) -> None:
    facts = [MemoryFacts(kind="fact", text=f"The ferry number {number} leaves at dawn.") for number in range(40)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    file_create(file=StoredProfile(name="short", content=SHORT), author=SYSTEM.author)
    turns = tuple(ConversationTurn("user", f"{number}. {SAID}") for number in range(6))
    wishes = [
        AssemblyRequest(topic="when does the ferry leave?"),
        AssemblyRequest(topic="when does the ferry leave?"),
        AssemblyRequest(profile="coding", topic="ferry", max_tokens=300),
        AssemblyRequest(profile="short", history=turns, max_tokens=520),
        AssemblyRequest(max_tokens=0),
    ]
    for asked in wishes:
        assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    before = told()
    assert [assembly.decided_in is None for assembly in Assembly.objects.order_by("id")].count(False) == 1

    call_command("migrate", "assembly", "0012", verbosity=0)
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT assembly_id) FROM decisions")
        assert cursor.fetchone() == (
            sum(len(one.decisions) for one in before.values() if not one.assembly.decided_in),
            4,
        )
        cursor.execute("SELECT count(*) FROM assemblies WHERE request ? 'repeats'")
        assert cursor.fetchone() == (1,)

    call_command("migrate", verbosity=0)
    after = told()
    assert after.keys() == before.keys()
    for id_, one in after.items():
        assert (one.decisions, one.inputs, one.sections) == (
            before[id_].decisions,
            before[id_].inputs,
            before[id_].sections,
        )
        assert one.assembly.request == before[id_].assembly.request
        assert replay(one).identical
