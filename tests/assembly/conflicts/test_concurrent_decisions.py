"""Decisions on conflicts wait for those who change the same texts at once, and decide on what these leave."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import sleep
from typing import Any

import pytest
from django.db import connections, transaction

from agents.models import Agent
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.models import Conflict
from config.http.errors import Conflict as ConflictError
from memories.models import Memory
from memories.services import facts_of, memory_update
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember

pytestmark = pytest.mark.usefixtures("committed_database")
UNCOMMITTED_SECONDS = 0.5


def change(memory: Memory, **status: Any) -> None:
    """Another version of the memory by somebody else; its text stays."""
    memory.refresh_from_db()
    memory_update(
        memory=memory,
        expected_version=memory.version,
        facts=replace(facts_of(memory), salience=1 - memory.salience / 4),
        superseded_by=memory.superseded_by,
        principal=SYSTEM,
        **status,
    )


@contextmanager
def uncommitted(do: Callable[[], None]) -> Iterator[None]:
    """Somebody does this in a transaction that is committed a moment after the block has begun."""
    is_done = threading.Event()

    def work() -> None:
        try:
            with transaction.atomic():
                do()
                is_done.set()
                sleep(UNCOMMITTED_SECONDS)
        finally:
            connections.close_all()

    other = threading.Thread(target=work)
    other.start()
    assert is_done.wait(10)
    yield
    other.join()


def test_a_memory_that_is_being_archived_does_not_hold(agent: Agent, team: Team) -> None:
    winner, loser = remember(team, NINETY), remember(agent, EIGHTY)
    conflict = conflict_between(winner, loser)
    archived = uncommitted(lambda: change(winner, retired_because="old"))
    with archived, pytest.raises(ConflictError, match="archived or superseded"):
        conflict_resolve(conflict=conflict, choice="left", principal=SYSTEM)
    assert Memory.objects.get(text=EIGHTY).stands


def test_another_version_with_the_same_text_hinders_neither_decision_nor_undo(agent: Agent) -> None:
    winner, loser = remember(agent, NINETY), remember(agent, EIGHTY)
    conflict = conflict_between(winner, loser)
    with uncommitted(lambda: change(loser)):
        conflict_resolve(conflict=conflict, choice="left", principal=SYSTEM)
    loser.refresh_from_db()
    assert (loser.superseded_by, loser.version) == (winner, 3)
    with uncommitted(lambda: change(loser)):
        conflict_undo(conflict=conflict, principal=SYSTEM)
    loser.refresh_from_db()
    assert loser.stands
    assert Conflict.objects.waiting().get() == conflict
