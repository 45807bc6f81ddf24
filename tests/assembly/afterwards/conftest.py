"""A follower that notes what it is told of, and records for it."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import Asked
from assembly.pipeline.services import assemble
from assembly.records.followers import followers
from teams.principal import SYSTEM


class Follower:
    """Notes what it is told of, and fails where it is asked to."""

    def __init__(self) -> None:
        self.told: list[list[UUID]] = []
        self.fails_on: set[UUID] = set()

    def __call__(self, assemblies: Sequence[Assembly]) -> None:
        ids = [one.id for one in assemblies]
        self.told.append(ids)
        if self.fails_on & set(ids):
            raise RuntimeError("as expected")


@pytest.fixture
def follower() -> Iterator[Follower]:
    one = Follower()
    followers.append(one)
    yield one
    followers.remove(one)


def made(agent: Agent, number: int) -> list[UUID]:
    return [
        assemble(agent=agent, asked=Asked(topic=f"topic {one}"), principal=SYSTEM).assembly.id for one in range(number)
    ]
