"""No statement of an assembly reads the large tables across owners.

This is what partitions by owner and distribution by owner (Citus) would need first, and what keeps a context's cost
independent of all other owners. The statements are read from the server's log, so none is overlooked; their plans say
by which conditions rows are found.
"""

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from agents.keys import api_key_create
from agents.models import Agent
from agents.services import agent_create
from config.db.partitions.divided_tables import DIVIDED, PARTITIONS
from memories.search import candidates
from memories.search.owner_partition import notice_division
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.one_of_each import everything
from tests.client import Api
from tests.scaling.statement_log import Scan, logged_statements, scans_of

pytestmark = pytest.mark.usefixtures("committed_database")

OWNER = {"memories": "agent_id|team_id|owner_id", "events": "agent_id", "chunks": "agent_id", "assemblies": "agent_id"}
"""The columns with the owner of a table's rows. Pieces have no owner: equal pieces of all owners are stored once."""
TABLES = [*OWNER, "pieces"]
BY_KEY = {("memories", "id"), ("memories", "ctid"), ("chunks", "id"), ("pieces", "id")}
"""Rows that are read again by a key that an earlier statement, or part of the statement, found with the owner."""

READ_BY_OWNER = [DIVIDED[table] for table in ("memories", "events", "chunks")]
"""The divided tables whose rows are read by the column by which they are divided."""

AGAIN = r"\((?:\w+\.)?(?:agent_id|team_id) = "
"""The condition on the owner of rows that are read by their addresses."""
MEMORIES = 80
"""Memories of each owner; with fewer EXACT_ROWS, candidates are searched for among them."""
SMALL, LARGE = candidates.EXACT_ROWS, 10
"""EXACT_ROWS with which these owners are small or large ones."""
SIZES = ("small owners", "large owners")


def found_by(scan: Scan) -> str:
    """Return how the rows of a scan are found: by their owner, a key, or anything."""
    for name, column in (("ctid", "ctid"), ("owner", OWNER.get(scan.table, "$^")), ("id", "id")):
        if re.search(rf"(?:\.|\()(?:{column}) = ", scan.conditions):
            return name
    return "anything"


def _created(answer: Any) -> Any:
    assert answer.status_code == 201, answer.content
    return answer.json()


@pytest.fixture
def world() -> tuple[Agent, Team]:
    """An agent and a team with one of everything and with many memories, beside another agent."""
    agent, team = everything()
    stranger = agent_create(slug="stranger", name="Stranger")
    for owner in (agent, team, stranger):
        facts = [MemoryFacts(kind="fact", text=f"Roll {number} of paper dries in a day.") for number in range(MEMORIES)]
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    return agent, team


@pytest.mark.parametrize("exact_rows", [pytest.param(SMALL, marks=pytest.mark.deep), LARGE], ids=SIZES)
def test_an_assembly_reads_the_rows_of_its_owners_alone(
    world: tuple[Agent, Team], exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, team = world
    monkeypatch.setattr(candidates, "EXACT_ROWS", exact_rows)
    api = Api(api_key_create(agent=agent, name="Mira's key")[1])
    asked = {"agent": agent.slug, "team": team.slug, "topic": "When does the ink of the newspaper dry?"}
    with logged_statements() as statements:
        for profile in ("coding", "conversation", "research", "operations", "memory"):
            context = _created(api.post("assemblies", {**asked, "profile": profile}))
        event = {"type": "message", "content": {"role": "user", "text": "Is the ink dry?"}}
        _created(api.post(f"assemblies/{context['id']}/append", {"event": event}))
    scans = scans_of(statements, TABLES)
    assert {scan.table for scan in scans} == set(TABLES)
    assert [scan for scan in scans if found_by(scan) == "anything"] == []
    by_key = {(scan.table, found_by(scan)) for scan in scans if found_by(scan) != "owner"}
    assert by_key <= BY_KEY
    assert (("memories", "ctid") in by_key) == (exact_rows < MEMORIES), "large owners are searched by candidates"
    owners = [scan for scan in scans if found_by(scan) == "ctid" and not re.search(AGAIN, scan.conditions)]
    assert owners == [], "addresses are unique within the partition of an owner"


@pytest.mark.parametrize("exact_rows", [SMALL, pytest.param(LARGE, marks=pytest.mark.deep)], ids=SIZES)
def test_an_assembly_reads_one_partition_of_each_owner(
    world: tuple[Agent, Team], exact_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, team = world
    monkeypatch.setattr(candidates, "EXACT_ROWS", exact_rows)
    call_command("partition_tables", stdout=StringIO())
    api = Api(api_key_create(agent=agent, name="Mira's key")[1])
    asked = {"agent": agent.slug, "team": team.slug, "topic": "When does the ink of the newspaper dry?"}
    _created(api.post("assemblies", asked))  # of which the first search notices that the table is divided
    with logged_statements() as statements:
        for profile in ("coding", "conversation", "research", "operations", "memory"):
            _created(api.post("assemblies", {**asked, "topic": f"{asked['topic']} Or later?", "profile": profile}))
    for table in READ_BY_OWNER:
        scans = scans_of(statements, [table.partition(number) for number in range(PARTITIONS)], [table.table])
        assert scans, table
        unpruned = {scan.statement for scan in scans if f"{table.owner} = " not in scan.conditions}
        named = {one: {*re.findall(rf"\b{table.table}_\d\b", one)} for one in unpruned}
        assert [one for one, partitions in named.items() if len(partitions) != 1] == []
        assert bool(named) == (table.table == "memories"), "searches of memories name the partition"
    notice_division(is_divided=False)


def test_a_statement_across_owners_would_be_noticed() -> None:
    everywhere = "SELECT id FROM memories WHERE kind = 'fact'"
    joined = "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id WHERE s.agent_id = $1"
    owned = "UPDATE chunks SET line = 1 WHERE agent_id = $1 AND position = $2"
    assert [found_by(scan) for scan in scans_of([everywhere, joined, owned], TABLES)] == [
        "anything",
        "anything",
        "owner",
    ]
