"""A run in a process of its own is killed, and the next one goes on; what it changed, and what it does not touch."""

import datetime
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from assembly.records.change_counters import load_change_counts
from config.db.statements import execute_sql, fetch_rows
from memories.jobs.services import job_create
from memories.lifecycle.hourly_run import TRIES_OF_ONE, lifecycle_run, run_lifecycle
from memories.lifecycle.thing_tables import EVENTS, MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.models import Job, LifecycleReport, Memory
from memories.services import MemoryFacts, events_create, memories_create
from teams.principal import SYSTEM

COUNT = 400
LONG = "The kettle in the kitchen of the second floor takes four minutes to boil. " * 6
RUN = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
from django.conf import settings
for database in settings.DATABASES.values():
    database["NAME"] = sys.argv[1]
django.setup()
from memories.lifecycle.hourly_run import run_lifecycle
from memories.models import Job
print("begins", flush=True)
run_lifecycle(Job.objects.get(id=sys.argv[2]), lambda _: None)
"""


def keeper(count: int = COUNT) -> tuple[Agent, list[Memory]]:
    agent = Agent.objects.create(slug="keeper", name="Keeper")
    facts = [MemoryFacts(kind="fact", text=f"{number}: {LONG}") for number in range(count)]
    return agent, memories_create(owner=agent, facts=facts, principal=SYSTEM)


def warm() -> int:
    return Memory.objects.filter(tier=Tier.WARM).count()


def kill_after(database: str, job: Job, moved: int) -> None:
    """Run it in another process until so many memories are warm, and kill it."""
    command = [sys.executable, "-c", RUN, database, str(job.id)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, env=os.environ) as process:
        assert process.stdout
        process.stdout.readline()
        before = warm()
        while warm() < before + moved and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)


@pytest.mark.deep
def test_a_run_that_is_killed_is_continued(committed_database: str, tmp_path: Path, settings: Any) -> None:
    settings.FROZEN_FOLDER = tmp_path
    _, memories = keeper()
    texts = {memory.id: memory.text for memory in memories}
    job = job_create(kind="lifecycle", arguments={}, agent=None, principal=SYSTEM)
    Job.objects.update(created=timezone.now() + datetime.timedelta(hours=13))
    for attempts, moved in ((1, 1), (2, 60)):
        Job.objects.update(attempts=attempts)
        kill_after(committed_database, job, moved)
        assert {memory.id: memory.text for memory in Memory.objects.all()} == texts
    assert 0 < warm() < COUNT
    Job.objects.update(attempts=3)
    run_lifecycle(Job.objects.get(), lambda _: None)
    assert warm() == COUNT
    assert {memory.id: memory.text for memory in Memory.objects.all()} == texts
    assert sum(LifecycleReport.objects.filter(step="compress").values_list("changed", flat=True)) == COUNT


def test_storing_a_text_in_another_way_makes_no_answer_invalid(committed_database: str) -> None:
    agent, memories = keeper(3)
    [event] = events_create(agent=agent, facts=[{"type": "message", "content": {"text": LONG}}], principal=SYSTEM)
    before = load_change_counts(agent.id)
    ids = [memory.id for memory in memories]
    for tier in (Tier.WARM, Tier.HOT, Tier.WARM):
        assert len(things_move(MEMORIES, ids, tier)) == 3
        assert things_move(EVENTS, [event.id], tier) == [event.id]
    assert load_change_counts(agent.id) == before
    things_move(MEMORIES, ids, Tier.COLD)
    [after] = load_change_counts(agent.id)
    assert after > before[0]
    things_move(MEMORIES, ids, Tier.WARM)
    assert load_change_counts(agent.id) > (after,)
    again = load_change_counts(agent.id)
    execute_sql("UPDATE memories SET salience = 0.9")
    assert load_change_counts(agent.id) > again, "the setting is not left behind"


def test_new_versions_need_no_new_entries_in_indexes(committed_database: str) -> None:
    # There is room on the pages, also where other tests of the server keep PostgreSQL from removing former versions.
    execute_sql("ALTER TABLE memories SET (fillfactor = 40)", using="owner")
    keeper()
    lifecycle_run(now=timezone.now() + datetime.timedelta(hours=13))
    fetch_rows("SELECT pg_stat_force_next_flush()")
    stats = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'memories'"
    [(changed, on_their_pages)] = fetch_rows(stats)
    assert changed >= COUNT  # batches that PostgreSQL ended count, too
    assert on_their_pages > 0  # none would be, if a column of an index were changed


def test_the_summaries_of_tiers_are_made_anew_on_sundays(committed_database: str) -> None:
    keeper(3)
    sunday = datetime.datetime(2036, 11, 23, 3, 30, tzinfo=datetime.UTC)
    lifecycle_run(now=sunday)
    found = "SELECT id FROM memories WHERE tier = 'hot' AND coalesce(tier_since, created) > now() - interval '1 day'"
    execute_sql("SET enable_seqscan = off")
    assert fetch_rows(found) == []
    things_move(MEMORIES, [Memory.objects.all()[0].id], Tier.HOT)
    assert len(fetch_rows(found)) == 1
    execute_sql("SELECT summarise_tiers('memories')")
    assert len(fetch_rows(found)) == 1
    with pytest.raises(Exception, match="nothing of kind agents"):
        execute_sql("SELECT summarise_tiers('agents')")


SLOW = """
CREATE FUNCTION take_a_while() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(%s); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION take_a_while();
"""


@pytest.mark.parametrize("seconds", [0.02, 0.06])
def test_postgresql_ends_batches_that_lock_rows_for_too_long(committed_database: str, seconds: float) -> None:
    keeper(6)
    execute_sql(SLOW % seconds, using="owner")
    lifecycle_run(now=timezone.now() + datetime.timedelta(hours=13))
    [report] = LifecycleReport.objects.filter(step="compress")
    assert (warm(), report.changed) == (6, 6)
    # With .02 s per row, batches of four and of two are too long; with .06 s, each row is tried twice in vain.
    assert report.detail["given_up"] >= (2 if seconds < 0.04 else 2 + 6 * (TRIES_OF_ONE - 1))
    assert fetch_rows("SELECT current_setting('statement_timeout')") == [("0",)]
