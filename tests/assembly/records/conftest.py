"""A follower that notes what it is told of, and records for it.

Records of long ago.

Records that are committed and sealed, and what the database's owner can do to them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any
from unittest import mock
from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction
from django.utils import timezone

from agents.models import Agent
from assembly.models import Assembly, RetentionPolicy
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.followers import followers, new_assemblies_follow
from assembly.records.retention_policies import RetentionRule, retention_set
from assembly.records.seal_verification import VerificationCounts, verify_records
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.records.encrypted_records import write


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


def make_assemblies(agent: Agent, number: int) -> list[UUID]:
    return [
        assemble(agent=agent, asked=AssemblyRequest(topic=f"topic {one}"), principal=SYSTEM).assembly.id
        for one in range(number)
    ]


Ago = Callable[..., Assembly]


def keep(days: int | None, team: Team | None = None, *, keep_flagged: bool = True) -> RetentionPolicy:
    return retention_set(team=team, keeping=RetentionRule(days, keep_flagged), expected_version=0, principal=SYSTEM)


@pytest.fixture
def ago() -> Ago:
    """Makes a record as so many days ago, and seals it."""

    def made(agent: Agent, days: int, team: Team | None = None, topic: str = "", *, seal: bool = True) -> Assembly:
        then = timezone.now() - timedelta(days=days)
        with mock.patch("assembly.records.record.timezone.now", return_value=then):
            made = assemble(
                agent=agent, team=team, asked=AssemblyRequest(topic=topic or f"{days}"), principal=SYSTEM
            ).assembly
        if seal:
            new_assemblies_follow()
        return made

    return made


AsOwner = Callable[..., None]
Kept = Callable[[str, str], AbstractContextManager[None]]


def make_assembly(agent: Agent, team: Team, topic: str) -> Assembly:
    """One more record."""
    return assemble(agent=agent, team=team, asked=AssemblyRequest(topic=topic), principal=SYSTEM).assembly


def kinds() -> list[str]:
    """What checking finds, by kind."""
    return [finding.kind.value for finding in verify_records(VerificationCounts())]


@pytest.fixture
def sealed(committed_database: str, agent: Agent, team: Team) -> list[Assembly]:
    """Six records in two seals; the last repeats the one before."""
    first = [make_assembly(agent, team, f"topic {number}") for number in range(3)]
    new_assemblies_follow()
    second = [make_assembly(agent, team, topic) for topic in ("tea", "milk", "milk")]
    new_assemblies_follow()
    assert second[2].decided_in == second[1].id
    return first + second


@pytest.fixture
def as_owner() -> AsOwner:
    """Runs a statement as who owns the database and switches its guards off."""

    def run(table: str, statement: str, parameters: Any = None) -> None:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(statement, parameters)
            assert cursor.rowcount > 0
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")

    return run


@pytest.fixture
def kept(as_owner: AsOwner) -> Kept:
    """A block after which the column of the table is as it was before, whatever the owner did to it."""

    @contextmanager
    def block(table: str, column: str) -> Iterator[None]:
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"CREATE TABLE before AS SELECT id, {column} AS value FROM {table}")  # noqa: S608
        yield
        as_owner(table, f"UPDATE {table} SET {column} = before.value FROM before WHERE before.id = {table}.id")  # noqa: S608
        with connections["owner"].cursor() as cursor:
            cursor.execute("DROP TABLE before")

    return block


@pytest.fixture
def marker(agent: Agent) -> str:
    """A text that no other test has, in a file that every context of the agent includes."""
    text = f"The marker is zebrafinch{uuid4().hex}."
    write(agent, text)
    return text
