"""Age thresholds follow how many cold things are woken, within bounds, until somebody saves a policy."""

import datetime
from uuid import uuid4

import pytest
from django.utils import timezone

from agents.models import Agent
from memories.lifecycle import rebalancing
from memories.lifecycle.hourly_run import LifecycleRun
from memories.lifecycle.kv_policies import PolicyBook, kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.lifecycle.rebalancing import next_factor, rebalance
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.use_counts import warm_up
from memories.models import LifecycleReport, Memory, ThingUse
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("factor", "share", "expected"),
    [(1, 0.11, 1.25), (1, 0.1, 1), (1, 0.01, 1), (1, 0.009, 0.8), (3.9, 0.5, 4), (4, 0.5, 4), (0.26, 0, 0.25)],
)
def test_a_factor_changes_by_the_share_of_what_was_woken(factor: float, share: float, expected: float) -> None:
    assert next_factor(factor, share) == pytest.approx(expected)


@pytest.fixture
def cold(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> list[Memory]:
    monkeypatch.setattr(rebalancing, "LEAST_THINGS", 10)
    facts = [MemoryFacts(kind="fact", text=f"Tea {number}") for number in range(10)]
    made = memories_create(owner=agent, facts=facts, principal=SYSTEM)
    things_move(MEMORIES, [one.id for one in made], Tier.COLD)
    return made


def run(days: float = 0) -> None:
    rebalance(LifecycleRun(timezone.now() + datetime.timedelta(days=days)))


def factor() -> float:
    return PolicyBook().age_factor("general")


def test_what_is_often_woken_is_compressed_later(cold: list[Memory]) -> None:
    for memory in cold[:2]:
        warm_up("memory", memory.id)
        warm_up("memory", memory.id)
    assert list(ThingUse.objects.values_list("woken", flat=True)) == [1, 1]
    run()
    assert factor() == 1.25
    assert PolicyBook().rebalanced("general").compress.age_threshold_hours == 15
    assert PolicyBook().policy("general") == DEFAULT_POLICIES["general"]


def test_what_nobody_wakes_is_compressed_sooner_once_a_week(cold: list[Memory]) -> None:
    run()
    run(days=6)
    assert factor() == pytest.approx(0.8)
    run(days=8)
    assert factor() == pytest.approx(0.64)
    assert LifecycleReport.objects.filter(step="rebalance").count() == 2


def test_a_saved_policy_of_the_type_ends_it(cold: list[Memory]) -> None:
    run()
    kv_policy_save(
        content_type="general",
        team=None,
        policy=DEFAULT_POLICIES["general"].as_json(),
        expected_version=0,
        principal=SYSTEM,
    )
    assert factor() == 1
    run(days=8)
    assert factor() == pytest.approx(0.8)


def test_few_things_say_nothing(agent: Agent) -> None:
    run()
    assert not LifecycleReport.objects.exists()
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Tea")], principal=SYSTEM)
    things_move(MEMORIES, [memory.id], Tier.COLD)
    run()
    assert factor() == 1


def test_what_was_deleted_is_not_counted(cold: list[Memory]) -> None:
    ThingUse.objects.create(thing=uuid4(), kind="memory", day=timezone.now().date(), woken=9)
    run()
    assert factor() == pytest.approx(0.8)
