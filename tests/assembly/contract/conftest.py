"""An agent and a team with one of everything, and the key of the agent."""

import pytest
from django.utils import timezone

from agents.keys import api_key_create
from agents.models import Agent
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache
from tests.assembly.one_of_each import everything
from tests.client import Api


@pytest.fixture(autouse=True)
def _no_older_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was assembled in another test was rolled back."""
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


@pytest.fixture
def mira(db: None) -> Agent:
    """The agent “mira”, which works in the team “press” alone."""
    return everything(timezone.now())[0]


@pytest.fixture
def mira_api(mira: Agent) -> Api:
    return Api(api_key_create(agent=mira, name="Mira's key")[1])
