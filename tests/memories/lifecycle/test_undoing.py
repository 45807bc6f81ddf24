"""What a run left out of search comes back by one undo, and stays."""

from typing import Any

import pytest

from agents.models import Agent
from config.http.errors import Conflict
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policies import kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.lifecycle.undoing import lifecycle_undo, undo_lifecycle, undo_of
from memories.models import Job, LifecycleReport, Memory
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

LONG = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 6


@pytest.fixture
def evicted(agent: Agent) -> LifecycleReport:
    facts = [MemoryFacts(kind="fact", text=f"{number} {LONG}") for number in range(3)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    policy: dict[str, Any] = DEFAULT_POLICIES["general"].as_json()
    policy["evict"]["max_total_size_gb"] = 2 * len(LONG) / 1_000_000_000
    kv_policy_save(content_type="general", team=None, policy=policy, expected_version=0, principal=SYSTEM)
    lifecycle_run()
    return LifecycleReport.objects.get(step="evict")


def undo(report: LifecycleReport) -> None:
    job = lifecycle_undo(report=report, principal=SYSTEM)
    undo_lifecycle(job, lambda _: None)
    undo_lifecycle(job, lambda _: None)  # a job may run twice
    Job.objects.all().delete()


def test_what_was_left_out_is_hot_again(evicted: LifecycleReport) -> None:
    assert Memory.objects.filter(tier="cold").count() == evicted.changed == 2
    undo(evicted)
    assert set(Memory.objects.values_list("tier", flat=True)) == {"hot"}
    found = undo_of(evicted)
    assert found is not None
    assert (sorted(found.things), found.detail["undone"]) == (sorted(evicted.things), str(evicted.id))


def test_it_is_undone_once(evicted: LifecycleReport) -> None:
    job = lifecycle_undo(report=evicted, principal=SYSTEM)
    with pytest.raises(Conflict):
        lifecycle_undo(report=evicted, principal=SYSTEM)
    job.delete()
    undo(evicted)
    with pytest.raises(Conflict):
        lifecycle_undo(report=evicted, principal=SYSTEM)


def test_what_nobody_minds_cannot_be_undone(evicted: LifecycleReport) -> None:
    report = LifecycleReport(step="compress", things=["memory:1"])
    with pytest.raises(Conflict):
        lifecycle_undo(report=report, principal=SYSTEM)
