"""On the path of a context, every statement names the owner of the distributed rows that it reads, as Citus needs it.

The statements are those of processes that know of the distribution, executed on a database that was prepared for it. A
statement about one owner is executed by one worker, and none reads tables of the coordinator besides.
"""

import re
from typing import Any

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from config.db.distribution.distributed_tables import DISTRIBUTED_BY_NAME, REFERENCE
from config.db.distribution.distribution_plan import prepare, remaining_plan
from config.db.statements import fetch_rows
from memories.search import candidates
from teams.models import Team
from tests.client import Api
from tests.scaling.statement_log import Scan, logged_statements, scans_of
from tests.scaling.test_owner_conditions import MEMORIES, world

__all__ = ["world"]  # a fixture

PROFILES = ("coding", "conversation", "research", "operations", "memory")
TABLES_SQL = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
INSERT = re.compile(r'INSERT INTO "?(\w+)"? \(([^)]*)\)')


def owner_of(scan: Scan) -> str | None:
    """Return the value with which the distribution column is compared where the planner sees it, or None."""
    seen = scan.conditions
    while hidden := re.search(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\) IS TRUE", seen):
        seen = seen.replace(hidden[0], "")
    column = DISTRIBUTED_BY_NAME[scan.table].owner
    found = re.search(rf"\((?:\w+\.)?{column} = (\$\d+|'[0-9a-f-]+'::uuid)\)", seen)
    return found[1] if found else None


def contexts(api: Api, agent: Agent, team: Team) -> list[Any]:
    """Return the sections of a context of each profile."""
    asked = {"agent": agent.slug, "team": team.slug, "topic": "When does the ink of the newspaper dry?"}
    found = []
    for profile in PROFILES:
        answer = api.post("assemblies", {**asked, "now": "2026-03-14T12:00:00Z", "profile": profile})
        assert answer.status_code == 201, answer.content
        found.append(answer.json()["sections"])
    return found


@pytest.mark.parametrize(
    "exact_rows",
    [
        pytest.param(candidates.EXACT_ROWS, id="small owners", marks=pytest.mark.deep),
        pytest.param(10, id="large owners"),
    ],
)
def test_a_context_reads_distributed_rows_by_their_owner_and_is_the_same(
    committed_database: str, world: tuple[Agent, Team], exact_rows: int, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    agent, team = world
    monkeypatch.setattr(candidates, "EXACT_ROWS", exact_rows)
    api = Api(api_key_create(agent=agent, name="Mira's key")[1])
    contexts(api, agent, team)
    before = contexts(api, agent, team)
    prepare(remaining_plan().prepare)
    settings.DATABASE_DISTRIBUTED = True
    Agent.objects.filter(id=agent.id).update(name="Mira")  # so that nothing is answered from a cache
    with logged_statements() as statements:
        after = contexts(api, agent, team)
        asked = {"agent": agent.slug, "team": team.slug, "profile": "memory", "topic": "Is the ink dry?"}
        context = api.post("assemblies", asked).json()
        event = {"type": "message", "content": {"role": "user", "text": "Is the ink dry?"}}
        assert api.post(f"assemblies/{context['id']}/append", {"event": event}).status_code == 201
    assert after == before
    scans = scans_of(statements, [*DISTRIBUTED_BY_NAME])
    assert {scan.table for scan in scans} >= {"memories", "events", "chunks", "documents", "entities", "relations"}
    assert [scan for scan in scans if owner_of(scan) is None] == []
    assert any("ctid" in scan.conditions for scan in scans) == (exact_rows < MEMORIES)

    elsewhere = {name for (name,) in fetch_rows(TABLES_SQL)} - {*DISTRIBUTED_BY_NAME, *REFERENCE}
    reading = dict.fromkeys(scan.statement for scan in scans)
    mixed = {scan.statement for scan in scans_of([*reading], [*elsewhere])}
    mixed |= {one for one in reading if len({owner_of(scan) for scan in scans if scan.statement == one}) > 1}
    assert mixed == set(), "rows of two owners, or of the coordinator and a worker, would be planned one by one"

    written = [found.groups() for one in statements for found in INSERT.finditer(one)]
    named = {table: columns for table, columns in written if table in DISTRIBUTED_BY_NAME}
    assert "events" in named
    assert all(DISTRIBUTED_BY_NAME[table].owner in columns for table, columns in named.items())


def test_a_hidden_or_missing_condition_on_the_owner_would_be_noticed() -> None:
    assert owner_of(Scan("memories", "(((m.owner_id = $1) AND (m.kind = $2)) IS TRUE) and (m.id = $3)", "")) is None
    assert owner_of(Scan("memories", "((m.team_id = $1) IS TRUE) and (m.owner_id = $1)", "")) == "$1"
    assert owner_of(Scan("events", "(events.session_id = $1)", "")) is None
