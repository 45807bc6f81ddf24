"""Records of long ago."""

from collections.abc import Callable
from datetime import timedelta
from unittest import mock

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.afterwards.taking import new_assemblies_follow
from assembly.asked import Asked
from assembly.models import Assembly, RetentionPolicy
from assembly.retention.policies import Keeping, retention_set
from assembly.service import assemble
from teams.models import Team
from teams.principal import SYSTEM

Ago = Callable[..., Assembly]


def keep(days: int | None, team: Team | None = None, *, keep_flagged: bool = True) -> RetentionPolicy:
    return retention_set(team=team, keeping=Keeping(days, keep_flagged), expected_version=0, principal=SYSTEM)


@pytest.fixture
def ago() -> Ago:
    """Makes a record as so many days ago, and seals it."""

    def made(agent: Agent, days: int, team: Team | None = None, topic: str = "", *, seal: bool = True) -> Assembly:
        then = timezone.now() - timedelta(days=days)
        with mock.patch("assembly.record.timezone.now", return_value=then):
            made = assemble(agent=agent, team=team, asked=Asked(topic=topic or f"{days}"), principal=SYSTEM).assembly
        if seal:
            new_assemblies_follow()
        return made

    return made
