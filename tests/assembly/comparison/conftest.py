"""An agent and a team that keep one of everything, and what they are told."""

from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.one_of_each import everything

Kept = tuple[Agent, Team]


@pytest.fixture
def kept() -> Kept:
    """An agent and a team that keep one of everything, today."""
    return everything(timezone.now())


@pytest.fixture
def ruth() -> Principal:
    """Somebody who changes things."""
    return User.objects.create_user("ruth", name="Ruth").principal


def told(kept: Kept, topic: str = "", **request: Any) -> Assembly:
    """One more context, as it was made."""
    agent, team = kept
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(topic=topic, **request)).assembly
