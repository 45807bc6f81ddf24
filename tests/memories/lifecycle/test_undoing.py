"""What a run left out of search comes back by one undo, and later runs leave it there."""

import datetime
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from config.http.errors import Conflict
from memories.lifecycle import last_look
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policies import kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES, stored_policy
from memories.lifecycle.policy_preview import policy_preview
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.undoing import lifecycle_undo, undo_lifecycle, undo_of
from memories.models import Job, LifecycleReport, Memory
from memories.services import MemoryFacts, facts_of, memories_create, memory_update
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

LONG = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 6


EVICT = DEFAULT_POLICIES["general"].as_json()["evict"]


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


def tiers() -> str:
    return " ".join(Memory.objects.order_by("id").values_list("tier", flat=True))


def run_later(**interval: float) -> None:
    lifecycle_run(now=timezone.now() + datetime.timedelta(**interval))


def test_later_runs_leave_it_in_search(evicted: LifecycleReport) -> None:
    undo(evicted)
    lifecycle_run()
    assert tiers().count("cold") == 1, "what nobody brought back makes room"
    run_later(hours=30)
    run_later(days=200)
    back = [ref.removeprefix("memory:") for ref in evicted.things]
    assert set(Memory.objects.filter(id__in=back).values_list("tier", flat=True)) == {"warm"}


def test_a_run_before_the_undo_is_done_leaves_it_in_search_too(
    evicted: LifecycleReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_look, "WHOLE_EVERY", datetime.timedelta(0))
    job = lifecycle_undo(report=evicted, principal=SYSTEM)
    things_move(MEMORIES, [*Memory.objects.values_list("id", flat=True)], Tier.HOT)  # as far as the job has come
    Memory.objects.exclude(id__in=[ref.removeprefix("memory:") for ref in evicted.things]).update(pinned=True)
    lifecycle_run()
    assert tiers() == "hot hot hot"
    job.delete()
    lifecycle_run()
    assert tiers().count("cold") == 2


def test_a_saved_policy_or_a_change_of_the_thing_ends_it(evicted: LifecycleReport) -> None:
    undo(evicted)
    memory = Memory.objects.get(id=evicted.things[0].removeprefix("memory:"))
    facts = replace(facts_of(memory), salience=0.1)
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    lifecycle_run()
    assert tiers().count("cold") == 2
    assert Memory.objects.get(id=memory.id).tier == "cold"
    policy = {**DEFAULT_POLICIES["general"].as_json(), "evict": {**EVICT, "max_total_size_gb": 0}}
    told = policy_preview(content_type="general", team=None, policy=stored_policy(policy), now=timezone.now())
    assert (told["now"]["evicted"], told["then"]["evicted"]) == (0, 1)
    kv_policy_save(content_type="general", team=None, policy=policy, expected_version=1, principal=SYSTEM)
    lifecycle_run()
    assert tiers() == "cold cold cold"


def test_later_runs_do_not_prune_it_again(agent: Agent) -> None:
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=LONG)], principal=SYSTEM)
    archive: dict[str, Any] = {"superseded_by": None, "retired_because": "Wrong", "principal": SYSTEM}
    memory_update(memory=memory, expected_version=1, facts=facts_of(memory), **archive)
    run_later(days=31)
    undo(LifecycleReport.objects.get(step="prune"))
    Memory.objects.update(tier_since=timezone.now())
    run_later(days=62)
    assert tiers() == "warm"
    archive["retired_because"] = "Wrong, as the kettle shows"
    memory_update(memory=Memory.objects.get(), expected_version=2, facts=facts_of(memory), **archive)
    run_later(days=63)
    assert tiers() == "cold"


def test_pressure_does_not_take_it_again(agent: Agent, settings: Any) -> None:
    facts = [MemoryFacts(kind="fact", text=f"{number} {LONG}") for number in range(10)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    settings.MEMORY_BUDGET_MB = 9 * len(LONG) / 1_000_000
    lifecycle_run()
    first = LifecycleReport.objects.get(step="pressure")
    undo(first)
    lifecycle_run()
    again = LifecycleReport.objects.filter(step="pressure").exclude(id=first.id).get()
    assert again.changed == first.changed
    assert not {*again.things} & {*first.things}


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
