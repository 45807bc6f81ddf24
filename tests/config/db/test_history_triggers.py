"""History cannot be changed: not by the app's role, not by the owner's, only erased through one audited function."""

import datetime

import pytest
from django.db import DatabaseError

from agents.models import Agent, AgentFile, AgentFileVersion, DailyLogVersion
from agents.services import agent_delete, daily_log_append
from config.db.migration_helpers import ERASABLE_TABLES, append_only_tables
from config.http.errors import NotFound
from memories.models import Memory, MemoryVersion
from memories.services import MemoryFacts, memory_create
from teams.models import Erasure, Membership, Team, TeamFile, TeamFileVersion, User
from teams.principal import SYSTEM
from teams.services import erase, team_delete
from tests.refused_statements import changes_of, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(agent: Agent, team: Team) -> Memory:
    daily_log_append(agent=agent, date=datetime.date(2026, 1, 5), text="x", principal=SYSTEM)
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="x"), principal=SYSTEM)
    return memory_create(owner=team, facts=MemoryFacts(kind="fact", text="x"), principal=SYSTEM)


@pytest.mark.parametrize("table", append_only_tables())
def test_an_append_only_table_refuses_all_changes_by_the_app(table: str) -> None:
    for change in changes_of(table):
        assert refused("default", change), change


@pytest.mark.parametrize("table", ERASABLE_TABLES)
def test_the_app_deletes_nothing_that_has_history(table: str, memory: Memory) -> None:
    assert refused("default", f"DELETE FROM {table}")  # noqa: S608
    assert refused("default", f"TRUNCATE {table} CASCADE")


@pytest.mark.parametrize("table", ["agent_md_file_versions", "agents", "memory_versions", "erasures"])
def test_pretending_to_erase_does_not_help_the_app(table: str, memory: Memory) -> None:
    assert refused("default", f"SET LOCAL dossier.erasing = 'on'; DELETE FROM {table}")  # noqa: S608


def test_erasing_takes_the_history_and_leaves_a_line(memory: Memory) -> None:
    erase("memories", memory.id, SYSTEM)
    assert not MemoryVersion.objects.filter(file_id=memory.id).exists()
    assert Erasure.objects.filter(kind="memories", target=memory.id, by_ref="system").count() == 1
    assert refused("default", "DELETE FROM memory_versions"), "the permission ends with the function"


def test_erasing_what_is_not_there_is_not_found_and_leaves_no_line(memory: Memory) -> None:
    erase("memories", memory.id, SYSTEM)
    with pytest.raises(NotFound):
        erase("memories", memory.id, SYSTEM)
    assert Erasure.objects.count() == 1


@pytest.mark.parametrize("table", ["users", "erasures", "agents; DROP TABLE users"])
def test_nothing_else_can_be_erased(table: str, memory: Memory) -> None:
    with pytest.raises(DatabaseError, match="can be erased"):
        erase(table, memory.id, SYSTEM)


def test_deleting_an_agent_cascades_and_spares_the_rest(agent: Agent, memory: Memory) -> None:
    agent_delete(agent=agent, principal=SYSTEM)
    for model in (AgentFile, AgentFileVersion, DailyLogVersion):
        assert not model.objects.exists()
    assert [row.id for row in Memory.objects.all()] == [memory.id]
    assert TeamFile.objects.count() == 3


def test_deleting_a_team_cascades_and_spares_people_and_agents(team: Team, agent: Agent, memory: Memory) -> None:
    team_delete(team=team, principal=SYSTEM)
    for model in (TeamFile, TeamFileVersion, Membership):
        assert not model.objects.exists()
    assert not Memory.objects.filter(id=memory.id).exists()
    assert agent.teams.count() == 0
    assert User.objects.count() == 3
    assert AgentFile.objects.count() == 3
