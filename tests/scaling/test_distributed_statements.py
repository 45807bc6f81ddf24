"""On the path of a context, no statement reads a distributed table without the owner, as Citus needs it."""

import re
from collections.abc import Iterator

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from config.db.distribution.layout import DISTRIBUTED_BY_NAME, REFERENCE
from config.db.distribution.plan import prepare, remaining_plan
from memories.search import candidates
from teams.models import Team
from tests.client import Api
from tests.scaling.statement_log import logged_statements, scans_of
from tests.scaling.test_owner_conditions import MEMORIES, _created, world

@pytest.fixture
def _x():
    pass

def run(agent, team):
    api = Api(api_key_create(agent=agent, name="Mira's key")[1])
    asked = {"agent": agent.slug, "team": team.slug, "topic": "When does the ink of the newspaper dry?"}
    out = []
    for profile in ("coding", "conversation", "research", "operations", "memory"):
        out.append(_created(api.post("assemblies", {**asked, "profile": profile})))
    event = {"type": "message", "content": {"role": "user", "text": "Is the ink dry?"}}
    out.append(_created(api.post(f"assemblies/{out[-1]['id']}/append", {"event": event})))
    return out

def test_p(committed_database, world, settings, monkeypatch):
    agent, team = world
    import sys
    before = run(agent, team)
    prepare(remaining_plan().prepare)
    settings.DATABASE_DISTRIBUTED = True
    from config.caching import process_cache
    with logged_statements() as statements:
        after = run(agent, team)
    for s in scans_of(statements, list(DISTRIBUTED_BY_NAME)):
        print(s.table, "|", s.conditions[:150], "|", re.sub(r"\s+", " ", s.statement)[:60])
    for a, b in zip(before, after):
        print({k for k in a if a[k] != b.get(k)})
