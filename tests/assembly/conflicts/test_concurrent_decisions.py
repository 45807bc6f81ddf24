"""Decisions on conflicts wait for those who change the same texts at once, and decide on what these leave.

Nobody waits for somebody who waits for them.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic, sleep
from typing import Any

import pytest
from django.db import connections, transaction
from django.test import Client

from agents.models import Agent
from assembly.conflicts import selection
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.models import Alert, AlertKind, Conflict
from config.db.statements import fetch_rows
from config.http.errors import Conflict as ConflictError
from memories.models import Memory
from memories.services import facts_of, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember
from tests.assembly.monitoring.alerts.alert_factories import alert_on

pytestmark = pytest.mark.usefixtures("committed_database")
BLOCKING_SQL = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
MOST_SECONDS = 20


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
    """Somebody does this in a transaction that is committed once the block waits for it."""
    is_done, has_blocked = threading.Event(), threading.Event()

    def work() -> None:
        try:
            with transaction.atomic():
                do()
                is_done.set()
                ends = monotonic() + MOST_SECONDS
                while not has_blocked.is_set() and monotonic() < ends:
                    [[is_blocking]] = fetch_rows(BLOCKING_SQL, [])
                    if is_blocking:
                        has_blocked.set()
                    sleep(0.02)
        finally:
            connections.close_all()

    other = threading.Thread(target=work)
    other.start()
    try:
        assert is_done.wait(10)
        yield
        assert has_blocked.is_set(), "the block did not wait for the other transaction"
    finally:
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


def test_a_selection_keeps_nobody_waiting_who_decides_on_one_of_its_conflicts(
    agent: Agent, team: Team, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = [
        conflict_between(remember(agent, f"Shop {number} opens at 8."), remember(agent, f"Shop {number} opens at 9."))
        for number in (1, 2)
    ]
    for one in conflicts:
        facts = {"kind": AlertKind.CONFLICT_OPEN, "thing": f"conflict:{one.id}", "cause": "open"}
        alert_on(agent, team, **facts, detail={"why": "x", "conflict": str(one.id)})
    others: list[threading.Thread] = []

    def decide_elsewhere() -> None:
        try:
            conflict_resolve(conflict=conflicts[1], choice="right", principal=SYSTEM)
        finally:
            connections.close_all()

    def decide(**facts: Any) -> Conflict:
        decided = conflict_resolve(**facts)
        if not others:
            others.append(threading.Thread(target=decide_elsewhere))
            others[0].start()
            others[0].join(MOST_SECONDS)
            assert not others[0].is_alive(), "it waits for the selection"
        return decided

    monkeypatch.setattr(selection, "conflict_resolve", decide)
    browser = Client()
    browser.force_login(editor)
    picks = [str(one.id) for one in conflicts]
    assert browser.post("/conflicts/selected/", {"action": "both", "pick": picks}).status_code == 302
    others[0].join()
    found = Conflict.objects.in_bulk(picks)
    assert [found[one.id].resolution for one in conflicts] == ["both", "right"]
    assert not Alert.objects.filter(closed=None).exists()
