"""Files come to agents and teams in three ways: with their creation, by migration, by command. And never twice."""

import importlib
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from agents.models import Agent, AgentFile, AgentFileVersion
from agents.services import agent_create, agent_files_ensure, agent_files_provision
from teams.models import Team, TeamFile, TeamFileVersion
from teams.services import team_files_provision
from tests.concurrency import at_once

PROVISION = [importlib.import_module(f"{app}.migrations.0003_provision_files").PROVISION for app in ("teams", "agents")]


def bare_agents(count: int) -> list[Agent]:
    """Agents as an older installation left them: without files."""
    return Agent.objects.bulk_create(
        Agent(slug=f"old-{n}", name="Old", instructions=f"Legacy {n} ü") for n in range(count)
    )


def migrate() -> None:
    with connection.cursor() as cursor:
        for statement in PROVISION:
            cursor.execute(statement)


def provision_by_command() -> str:
    out = StringIO()
    call_command("provision_files", stdout=out)
    return out.getvalue()


def snapshot() -> list[tuple[object, ...]]:
    return [
        *AgentFile.objects.order_by("id").values_list("id", "content", "version"),
        *TeamFile.objects.order_by("id").values_list("id", "content", "version"),
        *AgentFileVersion.objects.order_by("id").values_list("id", "content", "version", "sha256"),
        *TeamFileVersion.objects.order_by("id").values_list("id", "content", "version", "sha256"),
    ]


def check_agent(agent: Agent) -> None:
    files = {file.file_key: file for file in agent.files.all()}
    assert {key: file.content for key, file in files.items()} == {
        "IDENTITY": "", "INSTRUCTIONS": agent.instructions, "KNOWLEDGE": ""
    }  # fmt: skip
    for file in files.values():
        [version] = file.versions.all()
        assert (version.version, version.content, version.updated_by) == (1, file.content, "system")
        assert version.sha256 == file.as_version().sha256


@pytest.mark.django_db
@pytest.mark.parametrize("way", [migrate, provision_by_command])
def test_a_filled_database_gets_its_files_once(way: object) -> None:
    agents = bare_agents(3)
    Team.objects.create(slug="old", name="Old")
    assert callable(way)
    way()
    for agent in agents:
        check_agent(agent)
    assert set(TeamFile.objects.values_list("file_key", "content")) == {("GOALS", ""), ("CONTEXT", ""), ("RULES", "")}
    before = snapshot()
    way()
    assert snapshot() == before


@pytest.mark.django_db
def test_creation_brings_the_files() -> None:
    check_agent(agent_create(slug="new", name="New", instructions="Be kind."))


@pytest.mark.django_db
def test_only_what_is_missing_is_added() -> None:
    [agent] = bare_agents(1)
    AgentFile.objects.create(agent=agent, file_key="IDENTITY", content="Mine")
    assert agent_files_provision([agent]) == 2
    assert agent.files.get(file_key="IDENTITY").content == "Mine"


@pytest.mark.django_db
def test_the_command_counts_and_works_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.management.commands.provision_files.BATCH_ROWS", 2)
    bare_agents(5)
    Team.objects.create(slug="old", name="Old")
    assert provision_by_command() == "Added 3 files to teams and 15 files to agents.\n"
    assert provision_by_command() == "Added 0 files to teams and 0 files to agents.\n"


def test_twice_at_once_makes_one_set(committed_database: str) -> None:
    agents, team = bare_agents(5), Team.objects.create(slug="old", name="Old")
    at_once([
        *[partial(agent_files_provision, agents)] * 2,
        *[partial(agent_files_provision, agents[::-1])] * 2,
        *[partial(team_files_provision, [team])] * 2,
        *[partial(agent_files_ensure, agents[0])] * 2,
        *[provision_by_command] * 2,
    ])  # fmt: skip
    for agent in agents:
        check_agent(agent)
    assert TeamFileVersion.objects.count() == 3
