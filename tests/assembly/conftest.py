"""A team with files and memories, and an agent that works in it."""

import datetime

import pytest
from django.utils import timezone

from agents.models import Agent, AgentFile
from agents.services import agent_create, daily_log_append
from memories.services import MemoryFacts, memory_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.built_once import copy_of

NOW = datetime.datetime(2025, 3, 14, 12, tzinfo=datetime.UTC)


def write(agent: Agent, key: str, content: str) -> None:
    """Save the next version of one of the agent's files."""
    file = AgentFile.objects.get(agent=agent, file_key=key)
    file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)


@pytest.fixture
def demo_team(db: None) -> Team:
    team = team_create(slug="demo", name="Demo")
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="Ship the demo.", expected_version=1, author=SYSTEM.author)
    memory_create(owner=team, facts=MemoryFacts(kind="decision", text="Use three acts"), principal=SYSTEM)
    return team


@pytest.fixture
def luna(demo_team: Team) -> Agent:
    agent = agent_create(slug="luna", name="Luna", teams=[demo_team], instructions="Be kind.")
    write(agent, "IDENTITY", "You are Luna.")
    write(agent, "KNOWLEDGE", "Stories have a beginning.")
    daily_log_append(agent=agent, date=NOW.date(), text="Met the team.", principal=SYSTEM)
    memory_create(owner=agent, facts=MemoryFacts(kind="preference", text="Bullet points"), principal=SYSTEM)
    return agent


@pytest.fixture(scope="module")
def press_of_module(module_database: str) -> tuple[Agent, Team]:
    """What `press` is a copy of."""
    from tests.assembly.one_of_each import everything  # which imports from here

    return everything(timezone.now())


@pytest.fixture
def press(press_of_module: tuple[Agent, Team], db: None) -> tuple[Agent, Team]:
    """The agent “mira” and its team “press”, which keep one of everything, today.

    They are built once per module. A module that uses this in some of its tests marks all with
    `usefixtures("press")`, so that no test depends on whether another one ran before.
    """
    return copy_of(press_of_module)
