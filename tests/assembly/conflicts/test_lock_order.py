"""Whoever changes conflicts locks what belongs to them in one order, so that no two wait for each other."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from assembly.conflicts.compared_texts import texts_of
from assembly.conflicts.find import item_conflicts_find
from assembly.conflicts.known_conflicts import close_outdated, close_unfound
from assembly.conflicts.services import (
    EditedSide,
    conflict_decision_store,
    conflict_edit,
    conflict_resolve,
    conflict_undo,
)
from assembly.models import Conflict, ConflictResolution
from assembly.monitoring.alerts.watch import ALERT_LOCK
from memories.services import MergeRequest, memories_merge, memories_unmerge
from teams.principal import SYSTEM
from tests.assembly.conflicts.conflict_factories import NINETY, conflict_between, found_conflict, remember

pytestmark = pytest.mark.django_db

LOCKED = re.compile(r'FROM "(agents|memories|conflicts)".*FOR NO KEY UPDATE')
CHANGED = re.compile(r'^UPDATE "(conflicts)"')


def locks(do: Callable[[], object]) -> list[str]:
    """What it locks, in the order in which it does so first."""
    with CaptureQueriesContext(connection) as told:
        do()
    found = []
    for query in told:
        if f"pg_advisory_xact_lock({ALERT_LOCK})" in query["sql"]:
            found.append("alerts")
        elif named := LOCKED.search(query["sql"]) or CHANGED.search(query["sql"]):
            found.append(named[1])
    return list(dict.fromkeys(found))


@pytest.fixture
def conflict(agent: Agent) -> Conflict:
    return found_conflict(agent, agent)


def test_decisions(conflict: Conflict) -> None:
    def undo() -> Conflict:
        return conflict_undo(conflict=conflict, principal=SYSTEM)

    assert locks(lambda: conflict_resolve(conflict=conflict, choice="left", principal=SYSTEM)) == [
        "agents", "memories", "alerts", "conflicts",
    ]  # fmt: skip
    assert locks(undo) == ["agents", "memories", "conflicts"]
    side: EditedSide = "right" if conflict.left_statement == NINETY else "left"
    edit = locks(lambda: conflict_edit(conflict=conflict, side=side, text=NINETY, principal=SYSTEM))
    assert edit == ["agents", "memories", "alerts", "conflicts"]
    assert locks(undo) == ["agents", "memories", "conflicts"]


def test_imported_decisions(conflict: Conflict) -> None:
    Conflict.objects.update(status="gone", gone_because="not_found")
    conflict.refresh_from_db()
    both = ConflictResolution.BOTH
    imported = locks(lambda: conflict_decision_store(conflict=conflict, resolution=both, reason="", principal=SYSTEM))
    assert imported == ["alerts", "conflicts"]


def test_separated_memories(agent: Agent) -> None:
    left, right = remember(agent, NINETY), remember(agent, NINETY)
    conflict_between(left, right, kind="duplicate")
    merging = MergeRequest(left.id, {left.id: 1, right.id: 1})
    kept = memories_merge(owner=agent, merging=merging, principal=SYSTEM)
    separated = locks(lambda: memories_unmerge(memory=kept, expected_version=2, principal=SYSTEM))
    assert separated == ["agents", "memories", "alerts", "conflicts"]


def test_comparisons(conflict: Conflict) -> None:
    item = conflict.left_item
    current = {text.sha256: text.ref for text in texts_of("memory", item) or ()}
    assert locks(lambda: item_conflicts_find(kind="memory", id_=item)) == ["alerts", "conflicts"]
    assert locks(lambda: close_outdated(item, current)) == ["alerts", "conflicts"]
    assert locks(lambda: close_unfound([conflict])) == ["alerts", "conflicts"]
    assert locks(lambda: close_outdated(item, current)) == [], "there is none"
