"""A run of the lifecycle, by a clock of the test's own: what it moves, reports, and leaves alone."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from agents.models import Agent
from memories.embeddings.indexing import document_split
from memories.jobs.services import JobStopped
from memories.lifecycle import frozen_texts, hourly_run, size_evictions, transitions
from memories.lifecycle.failed_steps import Cause, failed_steps
from memories.lifecycle.hourly_run import StepsFailed, lifecycle_job_create, lifecycle_run
from memories.lifecycle.kv_policies import kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.lifecycle.lock_limit import LockedTooLong
from memories.lifecycle.size_evictions import searched_bytes
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tier_decisions import Reason
from memories.lifecycle.tier_presentation import describe_tier
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.use_counts import UseCount, UseKey, thing_opened, uses_store, warm_up_things
from memories.models import Document, Event, Job, LifecycleReport, Memory, ThingUse
from memories.services import MemoryFacts, events_create, facts_of, memories_create, memory_update
from memories.services.document import documents_create
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

LONG = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 6


@pytest.fixture(autouse=True)
def frozen_folder(tmp_path: Path, settings: Any) -> Path:
    settings.FROZEN_FOLDER = tmp_path / "frozen"
    return tmp_path / "frozen"


def later(**interval: float) -> datetime.datetime:
    return timezone.now() + datetime.timedelta(**interval)


def remember(agent: Agent, count: int = 1, **facts: Any) -> list[Memory]:
    made = [MemoryFacts(**{"kind": "fact", "text": f"{number} {LONG}", **facts}) for number in range(count)]
    return memories_create(owner=agent, facts=made, principal=SYSTEM)


def tiers() -> list[str]:
    return list(Memory.objects.order_by("id").values_list("tier", flat=True))


def used(memory: Memory, day: datetime.date, told: int) -> None:
    uses_store({UseKey("memory", memory.id, day): UseCount(told, told)})


def test_a_thing_goes_all_the_way_down_and_comes_back_by_uses(agent: Agent) -> None:
    [memory] = remember(agent)
    lifecycle_run(now=later(hours=11))
    assert tiers() == ["hot"]
    lifecycle_run(now=later(hours=13))
    assert tiers() == ["warm"]
    small = {
        **DEFAULT_POLICIES["general"].as_json(),
        "evict": {"max_total_size_gb": 0, "lru_weight": 1, "quality_weight": 0},
    }
    kv_policy_save(content_type="general", team=None, policy=small, expected_version=0, principal=SYSTEM)
    lifecycle_run(now=later(hours=14))
    assert tiers() == ["cold"]
    lifecycle_run(now=later(days=89))
    assert tiers() == ["cold"]
    lifecycle_run(now=later(days=91))
    assert tiers() == ["frozen"]
    assert Memory.objects.get().text == memory.text
    reports = LifecycleReport.objects.exclude(step__in=["rebalance", "looked"]).order_by("created")
    steps = list(reports.values_list("step", "things"))
    assert steps == [(step, [f"memory:{memory.id}"]) for step in ("compress", "evict", "freeze")]
    for expected in ("cold", "warm", "hot", "hot"):
        used(memory, timezone.now().date(), 1)
        for job in Job.objects.filter(kind="warm_up_things"):
            warm_up_things(job, lambda _: None)
            job.delete()
        assert tiers() == [expected]


def test_what_is_used_often_enough_stays_hot(agent: Agent) -> None:
    often, rarely = remember(agent, 2)
    run_at = later(hours=13)
    used(often, run_at.date(), 2)
    used(rarely, run_at.date(), 1)
    used(rarely, run_at.date() - datetime.timedelta(days=9), 9)
    lifecycle_run(now=run_at)
    assert tiers() == ["hot", "warm"]


def test_code_becomes_warm_after_six_hours_but_is_pinned_for_a_day(agent: Agent) -> None:
    facts = [{"path": path, "content": LONG * 4} for path in ("src/a.py", "src/a.rs", "notes.bin")]
    for document in documents_create(agent=agent, facts=facts, principal=SYSTEM):
        document_split(id_=document.id)
    for hours, expected in ((7, "hot warm hot"), (13, "hot warm warm"), (25, "warm warm warm")):
        lifecycle_run(now=later(hours=hours))
        rows = [Document.objects.get(path=fact["path"]).tier for fact in facts]
        assert " ".join(rows) == expected


def test_events_become_warm_too(agent: Agent) -> None:
    events_create(agent=agent, facts=[{"type": "message", "content": {"text": LONG}}], principal=SYSTEM)
    lifecycle_run(now=later(hours=13))
    assert (Event.objects.get().tier, Event.objects.get().content) == ("warm", {"text": LONG})


def test_a_persons_pin_wins(agent: Agent) -> None:
    [memory] = remember(agent)
    memory_update(
        memory=memory, expected_version=1, facts=facts_of(memory), superseded_by=None, pinned=True, principal=SYSTEM
    )
    lifecycle_run(now=later(days=900))
    assert tiers() == ["hot"]


def test_archived_memories_become_cold_after_30_days(agent: Agent) -> None:
    [memory] = remember(agent)
    memory_update(
        memory=memory,
        expected_version=1,
        facts=facts_of(memory),
        superseded_by=None,
        retired_because="Wrong",
        principal=SYSTEM,
    )
    lifecycle_run(now=later(days=29))
    assert tiers() == ["warm"]
    lifecycle_run(now=later(days=60))
    assert tiers() == ["cold"]
    assert LifecycleReport.objects.filter(step="prune").count() == 1


def test_nothing_is_ever_deleted(agent: Agent) -> None:
    remember(agent, 3)
    for days in (1, 100, 1_000):
        lifecycle_run(now=later(days=days))
    assert Memory.objects.count() == 3


def test_reports_can_only_be_added(agent: Agent) -> None:
    remember(agent)
    lifecycle_run(now=later(hours=13))
    with pytest.raises(Exception, match=r"permission denied|keeps history"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM lifecycle_reports")


def test_a_run_that_is_interrupted_is_reported_and_continued(agent: Agent) -> None:
    remember(agent, 60)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lifecycle_run(now=later(hours=13), advance=stop)
    moved = tiers().count("warm")
    assert 0 < moved < 60
    assert LifecycleReport.objects.get().changed == moved
    lifecycle_run(now=later(hours=13))
    assert set(tiers()) == {"warm"}
    assert sum(LifecycleReport.objects.values_list("changed", flat=True)) == 60


def test_pressure_evicts_to_70_percent_and_tells_it(agent: Agent, settings: Any) -> None:
    remember(agent, 100)
    total = searched_bytes()
    told: list[tuple[float, bool]] = []

    def listen(share: float, is_high: bool, **_: Any) -> None:
        told.append((round(share, 2), is_high))

    hourly_run.memory_pressure_changed.connect(listen)
    try:
        settings.MEMORY_BUDGET_MB = total / 1_000_000 / 0.9
        lifecycle_run(now=later(hours=1))
        assert [is_high for _, is_high in told] == [True, False]
        assert told[1][0] == pytest.approx(0.69, abs=0.01)
        assert tiers().count("cold") == pytest.approx(22, abs=1)
        lifecycle_run(now=later(hours=2))
        assert told[2:] == told[1:2]
    finally:
        hourly_run.memory_pressure_changed.disconnect(listen)


def test_pressure_takes_the_same_in_several_rounds(
    agent: Agent, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = remember(agent, 20)
    Memory.objects.filter(id__in=[one.id for one in memories[::2]]).update(salience=0, credibility=0)
    monkeypatch.setattr(size_evictions, "MOST_CHOSEN", 3)
    settings.MEMORY_BUDGET_MB = searched_bytes() / 1_000_000
    lifecycle_run(now=later(hours=1))
    assert tiers() == ["cold" if at % 2 == 0 and at < 14 else "hot" for at in range(20)]


def small_policy(content_type: str, **pin: Any) -> None:
    policy = {**DEFAULT_POLICIES[content_type].as_json()}
    policy |= {"evict": {**policy["evict"], "max_total_size_gb": 0}, "pin": {**policy["pin"], **pin}}
    kv_policy_save(content_type=content_type, team=None, policy=policy, expected_version=0, principal=SYSTEM)


def test_what_a_policy_pins_is_not_evicted(agent: Agent, settings: Any) -> None:
    facts = [{"path": path, "content": LONG * 4} for path in ("src/a.py", "src/a.rs")]
    for document in documents_create(agent=agent, facts=facts, principal=SYSTEM):
        document_split(id_=document.id)
    small_policy("code_snippets")
    settings.MEMORY_BUDGET_MB = 0.000001
    lifecycle_run()
    assert [Document.objects.get(path=fact["path"]).tier for fact in facts] == ["hot", "cold"]
    described = describe_tier(Document.objects.get(path="src/a.py"))
    assert described is not None
    assert described.reason == Reason.PINNED_BY_POLICY
    lifecycle_run(now=later(hours=25))
    assert Document.objects.get(path="src/a.py").tier == "cold"


def test_a_pattern_matches_kinds_of_memories(agent: Agent) -> None:
    fact, other = remember(agent), remember(agent, kind="decision")
    small_policy("general", patterns=["fact"], ttl_hours=48)
    lifecycle_run(now=later(hours=13))
    assert [Memory.objects.get(id=one.id).tier for [one] in (fact, other)] == ["hot", "cold"]
    lifecycle_run(now=later(hours=49))
    assert set(tiers()) == {"cold"}


def test_a_pin_for_which_there_is_no_room_is_not_promised(agent: Agent) -> None:
    remember(agent, 3)
    small_policy("general", patterns=["fact"], ttl_hours=48, max_size_mb=1.5 * len(LONG) / 1_000_000)
    reasons = [described.reason for one in Memory.objects.all() if (described := describe_tier(one))]
    assert sorted(reasons) == sorted([Reason.PINNED_BY_POLICY, Reason.YOUNG, Reason.YOUNG])
    lifecycle_run(now=later(hours=1))
    assert sorted(tiers()) == ["cold", "cold", "hot"]


def test_a_step_that_fails_does_not_end_the_others(
    agent: Agent, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(agent, 10)
    things_move(MEMORIES, [one.id for one in remember(agent, 2)], Tier.COLD)

    def fail(*_: Any) -> None:
        raise OSError("The store does not answer.")

    monkeypatch.setattr(frozen_texts, "freeze", fail)
    settings.MEMORY_BUDGET_MB = searched_bytes() / 40_000_000
    with pytest.raises(StepsFailed, match="freeze: OSError: The store does not answer"):
        lifecycle_run(now=later(days=91))
    failed = LifecycleReport.objects.get(step="failed")
    assert failed.detail == {"step": "freeze", "error": "OSError"}
    assert {"compress", "rebalance", "pressure"} <= set(LifecycleReport.objects.values_list("step", flat=True))


def test_a_stopped_job_ends_a_run(agent: Agent) -> None:
    remember(agent, 9)

    def stop(_: int) -> None:
        raise JobStopped

    with pytest.raises(JobStopped):
        lifecycle_run(now=later(hours=13), advance=stop)
    assert [*LifecycleReport.objects.values_list("step", flat=True)] == ["compress"]


def test_texts_are_frozen_once_when_a_batch_is_ended(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    things_move(MEMORIES, [one.id for one in remember(agent, 4)], Tier.COLD)
    written, ended, move = list[str](), list[bool](), transitions._move

    def freeze(texts: list[str], now: datetime.datetime) -> list[dict[str, Any]]:
        written.extend(texts)
        return write(texts, now)

    def end_twice(*arguments: Any, **options: Any) -> Any:
        if len(ended) < 2:
            ended.append(True)
            raise LockedTooLong
        return move(*arguments, **options)

    write = frozen_texts.freeze
    monkeypatch.setattr(frozen_texts, "freeze", freeze)
    monkeypatch.setattr(transitions, "_move", end_twice)
    lifecycle_run(now=later(days=91))
    assert (set(tiers()), len(ended)) == ({"frozen"}, 2)
    assert len(written) == len(set(written)) == 4
    assert sorted(one.text for one in Memory.objects.all()) == sorted(written)


def test_opening_a_hot_thing_costs_no_statement(agent: Agent, django_assert_num_queries: Any) -> None:
    [memory] = remember(agent)
    with django_assert_num_queries(0):
        thing_opened(memory)
    things_move(MEMORIES, [memory.id], Tier.COLD)
    thing_opened(Memory.objects.get())
    assert tiers() == ["warm"]


def test_uses_are_added_up_by_day(agent: Agent) -> None:
    [memory] = remember(agent)
    today = timezone.now().date()
    for told in (1, 2):
        used(memory, today, told)
    assert list(ThingUse.objects.values_list("kind", "thing", "day", "told", "considered")) == [
        ("memory", memory.id, today, 3, 3)
    ]


def test_one_job_is_created_each_hour(agent: Agent) -> None:
    lifecycle_job_create()
    lifecycle_job_create()
    assert Job.objects.filter(kind="lifecycle").count() == 1
    Job.objects.update(status="done", created=later(hours=-1))
    lifecycle_job_create()
    assert Job.objects.filter(kind="lifecycle").count() == 2


def test_another_error_of_the_database_is_not_tried_again(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[int]()

    def refuses(run: hourly_run.LifecycleRun) -> None:
        tried.append(1)
        raise OperationalError("the connection was closed")

    monkeypatch.setattr(hourly_run, "further_steps", [refuses])
    with pytest.raises(StepsFailed):
        lifecycle_run()
    assert len(tried) == 1
    [failed] = failed_steps()
    assert (failed.step, failed.cause, failed.is_done) == ("refuses", Cause.DATABASE, False)
    monkeypatch.setattr(hourly_run, "further_steps", [])
    lifecycle_run(now=later(hours=1))
    assert [one.is_done for one in failed_steps()] == [True]
