"""Records that are committed and sealed, and what the database's owner can do to them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from django.db import connections, transaction

from agents.models import Agent
from assembly.models import Assembly
from assembly.pipeline.request import Asked
from assembly.pipeline.services import assemble
from assembly.records.followers import new_assemblies_follow
from assembly.records.seal_verification import Tally, verify
from teams.models import Team
from teams.principal import SYSTEM

AsOwner = Callable[..., None]
Kept = Callable[[str, str], AbstractContextManager[None]]


def made(agent: Agent, team: Team, topic: str) -> Assembly:
    """One more record."""
    return assemble(agent=agent, team=team, asked=Asked(topic=topic), principal=SYSTEM).assembly


def kinds() -> list[str]:
    """What checking finds, by kind."""
    return [finding.kind.value for finding in verify(Tally())]


@pytest.fixture
def sealed(committed_database: str, agent: Agent, team: Team) -> list[Assembly]:
    """Six records in two seals; the last repeats the one before."""
    first = [made(agent, team, f"topic {number}") for number in range(3)]
    new_assemblies_follow()
    second = [made(agent, team, topic) for topic in ("tea", "milk", "milk")]
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
