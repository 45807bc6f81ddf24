"""The owner's role may do everything, but meets the triggers. It sees only what the app has committed."""

import datetime

from agents.models import Agent, AgentFileVersion, DailyLogVersion
from agents.services import daily_log_append
from config.db.migration_helpers import append_only_tables
from memories.models import MemoryVersion
from memories.services import MemoryFacts, memory_create
from teams.models import Erasure, Team, TeamFileVersion
from teams.principal import SYSTEM
from teams.services import erase
from tests.refused_statements import changes_of, refused, rows_in

VERSIONS = (TeamFileVersion, AgentFileVersion, DailyLogVersion, MemoryVersion)


def test_append_only_tables_refuse_all_changes_by_the_owner(committed_database: str, agent: Agent, team: Team) -> None:
    daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="x", principal=SYSTEM)
    for owner in (agent, team):
        memory = memory_create(owner=owner, facts=MemoryFacts(kind="fact", text="x"), principal=SYSTEM)
    erase("memories", memory.id, SYSTEM)  # so that `erasures` has a row
    filled = [table for table in append_only_tables() if rows_in(table)]
    assert {model._meta.db_table for model in (*VERSIONS, Erasure)} <= set(filled)
    for table in filled:  # a trigger on rows has nothing to refuse in an empty table
        for change in changes_of(table):
            assert refused("owner", change), change
    for table in append_only_tables():
        assert refused("owner", f"TRUNCATE {table} CASCADE"), table
