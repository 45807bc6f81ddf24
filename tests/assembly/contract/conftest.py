"""An agent and a team with one of everything, and the key of the agent."""

import pytest

from agents.keys import api_key_create
from agents.models import Agent
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache
from teams.models import Team
from tests.client import Api


@pytest.fixture(autouse=True)
def _no_older_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was assembled in another test was rolled back."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


@pytest.fixture
def mira(press: tuple[Agent, Team]) -> Agent:
    """The agent “mira”, which works in the team “press” alone."""
    return press[0]


@pytest.fixture
def mira_api(mira: Agent) -> Api:
    return Api(api_key_create(agent=mira, name="Mira's key")[1])
