"""How many rows a run reads: what is new or due, not the tables; what it must not miss; tables that are exchanged."""

import datetime
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_create
from config.db.statements import execute_sql, fetch_rows
from memories.lifecycle import hourly_run, policy_preview, size_evictions
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policies import kv_policy_save
from memories.lifecycle.kv_policy import DEFAULT_POLICIES, GB, stored_policy
from memories.lifecycle.last_look import last_look
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.use_counts import UseCount, UseKey, uses_store
from memories.models import Event, LifecycleReport, Memory, TierCheck
from memories.services import MemoryFacts, events_create, facts_of, memories_create, memory_update
from teams.principal import SYSTEM

LONG = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 6
THINGS, DUE = 20_000, 100
MOST_ROWS = 10 * DUE
"""More than a run may read of all tables that grow with the number of things, whatever that is."""

# Things of the last months, which are warm, and some that are hot for ten hours.
FILL_SQL = """
INSERT INTO memories (id, agent_id, owner_id, kind, text, tier, tier_since, created, salience, credibility, version,
    external_id, updated_by, editor_ref, editor_name)
SELECT uuidv7(-age), %(agent)s, %(agent)s, 'fact', 'The kettle boils ' || number, tier, now() - age, now() - age,
    .5, .5, 1, '', 'system', '', ''
FROM (SELECT number, CASE WHEN number <= %(due)s THEN 'hot' ELSE 'warm' END AS tier,
        CASE WHEN number <= %(due)s THEN interval '10 hours' ELSE interval '100 days' * random() + interval '1 day' END
        AS age FROM generate_series(1, %(things)s) AS number) AS made
"""
READ_SQL = """
SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0) FROM pg_stat_user_tables
WHERE relname = ANY(ARRAY['memories', 'documents', 'events', 'tier_checks', 'thing_uses', 'requested_policies',
    'memory_versions'])
"""


def rows_read() -> int:
    """Return how many rows of these tables PostgreSQL has read until now for all sessions that are closed."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
    ((count,),) = fetch_rows(READ_SQL)
    return int(count)


def later(**interval: float) -> datetime.datetime:
    return timezone.now() + datetime.timedelta(**interval)


def remember(agent: Agent, count: int = 1) -> list[Memory]:
    facts = [MemoryFacts(kind="fact", text=f"{number} {LONG}") for number in range(count)]
    return memories_create(owner=agent, facts=facts, principal=SYSTEM)


@pytest.mark.deep
def test_a_run_reads_what_is_due_and_not_the_tables(
    committed_database: str,
) -> None:
    agent = agent_create(slug="mira", name="Mira")
    execute_sql(FILL_SQL, {"agent": agent.id, "things": THINGS, "due": DUE})
    execute_sql("ANALYZE memories", using="owner")
    before = rows_read()
    lifecycle_run()
    assert rows_read() - before > THINGS, "the first run reads everything"
    before = rows_read()
    lifecycle_run(now=later(hours=1))
    assert rows_read() - before <= MOST_ROWS
    assert Memory.objects.filter(tier="hot").count() == DUE
    before = rows_read()
    lifecycle_run(now=later(hours=3))
    read = rows_read() - before
    assert Memory.objects.filter(tier="hot").count() == 0
    assert LifecycleReport.objects.get(step="compress").changed == DUE
    print(f"{read} rows were read of {THINGS}, of which {DUE} were due")
    assert DUE <= read <= MOST_ROWS


@pytest.mark.django_db
def test_what_is_new_used_edited_or_brought_back_is_not_missed(agent: Agent) -> None:
    first, used, edited = remember(agent, 3)
    lifecycle_run(now=later(hours=1))
    assert last_look(later(hours=2)) is not None, "the runs that follow read what is new or due"
    [second] = remember(agent)
    uses_store({UseKey("memory", used.id, later(hours=13).date()): UseCount(2, 2)})
    lifecycle_run(now=later(hours=2))
    assert set(TierCheck.objects.values_list("thing", flat=True)) == {one.id for one in (first, used, edited, second)}
    lifecycle_run(now=later(hours=13))
    assert hot() == {used.id}
    assert set(TierCheck.objects.values_list("thing", flat=True)) == {used.id}
    again = Memory.objects.get(id=edited.id)
    facts = replace(facts_of(again), text="It takes five minutes.")
    memory_update(memory=again, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    things_move(MEMORIES, [second.id], Tier.HOT, later(hours=13))
    assert hot() == {used.id, edited.id, second.id}
    lifecycle_run(now=later(hours=14))
    lifecycle_run(now=later(hours=24))
    assert hot() == {used.id, second.id}, "ten hours, and eleven"


@pytest.mark.django_db
def test_an_owners_things_of_one_type_share_a_limit_by_their_stored_sizes(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = remember(agent, 4)
    facts = [{"type": "message", "content": {"text": f"{number} {LONG}"}} for number in range(4)]
    events_create(agent=agent, facts=facts, principal=SYSTEM)
    whole = sum(len(one.text) for one in memories)
    policy = DEFAULT_POLICIES["general"].as_json()
    policy["evict"]["max_total_size_gb"] = 1.5 * whole / GB
    kv_policy_save(content_type="general", team=None, policy=policy, expected_version=0, principal=SYSTEM)
    monkeypatch.setattr(size_evictions, "MOST_CHOSEN", 1)  # so that it takes several rounds
    lifecycle_run()
    cold = Memory.objects.filter(tier="cold").count() + Event.objects.filter(tier="cold").count()
    assert cold in {2, 3}, "each table alone has less than the limit"
    left = size_evictions.searched_bytes()
    assert left <= 1.5 * whole
    things_move(MEMORIES, [one.id for one in memories], Tier.HOT)
    before = size_evictions.searched_bytes()
    things_move(MEMORIES, [one.id for one in memories], Tier.WARM)
    assert size_evictions.searched_bytes() < before - whole / 2, "what is packed takes less"


@pytest.mark.django_db
def test_a_preview_of_very_many_things_is_an_estimate_and_says_so(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(agent, 300)
    policy = stored_policy({**DEFAULT_POLICIES["general"].as_json(), "compress": NEVER_YOUNG})
    asked: dict[str, Any] = {"content_type": "general", "team": None, "policy": policy, "now": later(minutes=1)}
    exact = policy_preview.policy_preview(**asked)
    assert (exact["then"]["compressed"], exact["is_estimated"]) == (300, False)
    monkeypatch.setattr(policy_preview, "_share", lambda: 0.5)
    found = policy_preview.policy_preview(**asked)
    assert found["is_estimated"]
    assert found == policy_preview.policy_preview(**asked), "the same part is looked at"
    assert found["then"]["compressed"] % 2 == 0
    assert 0 <= found["then"]["compressed"] <= 600


NEVER_YOUNG = {"age_threshold_hours": 0, "access_threshold": 2, "compression_ratio": 0.8}


def hot() -> set[Any]:
    return set(Memory.objects.filter(tier="hot").values_list("id", flat=True))


@pytest.mark.deep
def test_a_step_that_meets_the_exchange_of_a_table_is_executed_again(
    committed_database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = list[int]()

    def summarise(run: hourly_run.LifecycleRun) -> None:
        """As the clean-up does: it looks for the index first."""
        ((index,),) = fetch_rows("SELECT leaf::oid FROM leaves_of('events_hot') AS leaf LIMIT 1")
        found.append(index)
        if len(found) == 1:
            call_command("partition_tables", "--table", "events", stdout=StringIO())
        fetch_rows("SELECT brin_summarize_new_values(%s::oid)", [index], using="owner")

    monkeypatch.setattr(hourly_run, "further_steps", [summarise])
    lifecycle_run()
    assert (len(found), len(set(found))) == (2, 2)
    assert "a table was exchanged during the step summarise" in caplog.text
    assert not LifecycleReport.objects.filter(step="failed").exists()
