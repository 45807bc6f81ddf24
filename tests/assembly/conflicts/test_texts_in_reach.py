"""Texts that come into reach are compared, although they are as they were: they stand again, are found by search again,
or speak of another day.
"""

import datetime
from dataclasses import replace
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.models import Conflict, UncomparedItem
from memories.archive.sections import scope_of_agent
from memories.archive.services import import_begin, import_create
from memories.embeddings import vectors
from memories.embeddings.base import EmbedderFailed
from memories.embeddings.indexing import embed_missing, reindex
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Memory
from memories.services import (
    MergeRequest,
    facts_of,
    memories_merge,
    memories_unmerge,
    memory_delete,
    memory_level_set,
    memory_update,
)
from memories.services.authorship import memory_rate
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from teams.services import team_create
from tests.archives import zipped
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember, run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def team(db: None) -> Team:
    return team_create(slug="care", name="Care")


@pytest.fixture
def agent(team: Team) -> Agent:
    return agent_create(slug="ada", name="Ada", teams=[team])


def change(memory: Memory, facts: dict[str, Any] | None = None, **status: Any) -> None:
    memory.refresh_from_db()
    status = {"superseded_by": memory.superseded_by, **status}
    changed = replace(facts_of(memory), **facts or {})
    memory_update(memory=memory, expected_version=memory.version, facts=changed, principal=SYSTEM, **status)


def fail(*_: Any) -> Any:
    raise EmbedderFailed("down")


def test_a_restored_memory_is_compared(agent: Agent) -> None:
    one = remember(agent, EIGHTY)
    change(one, retired_because="old")
    remember(agent, NINETY)
    run_jobs()
    assert not Conflict.objects.exists()
    change(one, retired_because="")
    run_jobs()
    assert Conflict.objects.waiting().count() == 1


def test_a_memory_that_is_no_longer_superseded_is_compared(agent: Agent) -> None:
    one, other = remember(agent, EIGHTY), remember(agent, "Tea is served at noon.")
    change(one, superseded_by=other)
    remember(agent, NINETY)
    run_jobs()
    change(one, superseded_by=None)
    run_jobs()
    assert Conflict.objects.waiting().count() == 1


def test_a_memory_whose_successor_is_deleted_is_compared(agent: Agent) -> None:
    one, other = remember(agent, EIGHTY), remember(agent, "Tea is served at noon.")
    change(one, superseded_by=other)
    remember(agent, NINETY)
    run_jobs()
    memory_delete(memory=other, principal=SYSTEM)
    run_jobs()
    assert Conflict.objects.waiting().count() == 1


def test_a_separated_memory_is_compared(agent: Agent) -> None:
    kept, one = remember(agent, "Tea is served at noon."), remember(agent, EIGHTY)
    merging = MergeRequest(keep=kept.id, versions={kept.id: 1, one.id: 1})
    kept = memories_merge(owner=agent, merging=merging, principal=SYSTEM)
    remember(agent, NINETY)
    run_jobs()
    assert not Conflict.objects.exists()
    memories_unmerge(memory=kept, expected_version=kept.version, principal=SYSTEM)
    run_jobs()
    assert Conflict.objects.waiting().count() == 1


def test_a_memory_that_an_import_restores_is_compared(agent: Agent) -> None:
    one = remember(agent, EIGHTY)
    archive = zipped(scope_of_agent(agent, SYSTEM))
    change(one, retired_because="old")
    remember(agent, NINETY)
    run_jobs()
    plan = import_create(archive=archive, file_name="ada.zip", principal=SYSTEM)
    import_begin(plan=plan, chosen=[f"agents/ada/MEMORY.md/{one.id}"], principal=SYSTEM)
    run_jobs()
    assert Memory.objects.get(id=one.id).stands
    assert Conflict.objects.waiting().count() == 1


def test_a_cold_memory_that_feedback_brings_back_is_compared(agent: Agent) -> None:
    one = remember(agent, EIGHTY)
    things_move(MEMORIES, [one.id], Tier.COLD)
    remember(agent, NINETY)
    run_jobs()
    assert not Conflict.objects.exists()
    memory_rate(memory=Memory.objects.get(id=one.id), credibility=0.4, principal=SYSTEM)
    run_jobs()
    assert Conflict.objects.waiting().count() == 1


def test_an_archived_memory_is_not_noted(agent: Agent) -> None:
    one = remember(agent, EIGHTY)
    run_jobs()
    change(one, retired_because="old")
    change(one, facts={"salience": 0.9})
    assert not UncomparedItem.objects.exists()


@pytest.mark.parametrize("tier", [Tier.HOT, Tier.WARM])
def test_a_memory_that_search_finds_again_is_compared(agent: Agent, tier: Tier) -> None:
    one = remember(agent, EIGHTY)
    run_jobs()
    things_move(MEMORIES, [one.id], Tier.COLD)
    remember(agent, NINETY)
    run_jobs()
    assert not Conflict.objects.exists()
    assert things_move(MEMORIES, [one.id], tier) == [one.id]
    run_jobs()
    assert Conflict.objects.count() == 1


def test_a_move_between_searched_tiers_notes_nothing(agent: Agent) -> None:
    one = remember(agent, EIGHTY)
    run_jobs()
    for tier in (Tier.WARM, Tier.HOT, Tier.COLD):
        things_move(MEMORIES, [one.id], tier)
    assert not UncomparedItem.objects.exists()


def test_a_memory_that_is_embedded_later_is_compared(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(agent, EIGHTY)
    with monkeypatch.context() as broken:
        broken.setattr(vectors, "_embed", fail)
        remember(agent, NINETY)
        run_jobs()
    assert not Conflict.objects.exists()
    remember(agent, "zzzqqq")  # no known word: it stays without a vector, and is not noted each time
    run_jobs()
    embed_missing(reindex(agent=agent, principal=SYSTEM), lambda _: None)
    assert UncomparedItem.objects.count() == 1
    run_jobs()
    assert Conflict.objects.count() == 1


def test_a_memory_that_is_embedded_because_of_a_lower_level_is_noted(agent: Agent) -> None:
    one = remember(agent, EIGHTY, sensitivity=Sensitivity.CONFIDENTIAL)
    run_jobs()
    memory_level_set(memory=one, level=Sensitivity.INTERNAL, principal=SYSTEM)
    assert UncomparedItem.objects.get().item == one.id


def test_a_conflict_between_texts_of_different_days_is_closed_when_a_day_is_added(agent: Agent) -> None:
    monday, tuesday = (datetime.datetime(2026, 3, day, tzinfo=datetime.UTC) for day in (2, 3))
    one = remember(agent, EIGHTY, occurred_at=monday)
    remember(agent, NINETY, occurred_at=monday)
    run_jobs()
    assert Conflict.objects.waiting().count() == 1
    change(one, facts={"occurred_at": tuesday})
    run_jobs()
    assert not Conflict.objects.waiting().exists()
    change(one, facts={"occurred_at": monday})
    run_jobs()
    assert Conflict.objects.waiting().count() == 1
