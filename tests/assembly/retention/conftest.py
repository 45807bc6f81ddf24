"""Records of long ago."""

from collections.abc import Callable
from datetime import timedelta
from unittest import mock

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly, RetentionPolicy
from assembly.pipeline.request import Asked
from assembly.pipeline.services import assemble
from assembly.records.followers import new_assemblies_follow
from assembly.records.retention_policies import Keeping, retention_set
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
        with mock.patch("assembly.records.record.timezone.now", return_value=then):
            made = assemble(agent=agent, team=team, asked=Asked(topic=topic or f"{days}"), principal=SYSTEM).assembly
        if seal:
            new_assemblies_follow()
        return made

    return made
