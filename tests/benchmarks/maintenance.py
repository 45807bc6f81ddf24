"""The hourly run on ROWS memories (100,000): how long it takes, and how long it locks rows.

`longest_lock_ms` is the longest transaction of a run that compresses them all, also of those that PostgreSQL ended,
`lock_ms_p99` that of which 99 % are shorter, `locks_over_50_ms` how many were longer than that, `given_up` how many
PostgreSQL ended after 30 ms, `seconds` how long the run took, `cpu_ms_per_thing` what it costs here and in PostgreSQL's
process for it. A machine that does something else meanwhile lengthens all but the last.
`hot_updates_ratio` is the share of rows whose new version needed no entries in indexes. DATA is as for `tiers`.
"""

import os
import statistics
import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django

from tests.benchmarks.figures import figure
from tests.benchmarks.http_assembly import manage
from tests.benchmarks.tiers import fill, keeper, messages

NAME = "maintenance"
ROWS = int(os.environ.get("ROWS", "100000"))
LONG_MS = 50

COPY_SQL = """
INSERT INTO memories (id, agent_id, kind, text, language, embedding, embedding_model, salience, credibility, version,
    created, updated_by, editor_ref, editor_name, external_id)
SELECT gen_random_uuid(), agent_id, kind, text, language, embedding, embedding_model, salience, credibility, version,
    created, updated_by, editor_ref, editor_name, '' FROM memories CROSS JOIN generate_series(1, %s)
"""


def run() -> None:
    """Print the figures of one run."""
    manage("migrate", "--verbosity", "0")
    django.setup()
    from django.utils import timezone

    from config.db.statements import execute_sql, fetch_rows
    from memories.lifecycle import hourly_run, transitions
    from memories.models import LifecycleReport, Memory
    from tests.benchmarks.memory_table import indexed_afterwards

    fill(keeper(), messages())
    with indexed_afterwards():
        execute_sql(COPY_SQL, [max(1, ROWS // Memory.objects.count() - 1)])
    locks: list[float] = []
    move = transitions.things_move

    def observed(*args: Any, seconds: list[float], **kwargs: Any) -> Any:
        try:
            return move(*args, seconds=seconds, **kwargs)
        finally:
            locks.extend(1_000 * one for one in seconds)

    begun, cpu = time.perf_counter(), _cpu_seconds()
    with patch.object(hourly_run, "things_move", observed):
        run = hourly_run.lifecycle_run(now=timezone.now() + timedelta(hours=13))
    took, cpu = time.perf_counter() - begun, _cpu_seconds() - cpu
    reports = LifecycleReport.objects.filter(run=run.id, step="compress")
    moved = sum(reports.values_list("changed", flat=True))
    fetch_rows("SELECT pg_stat_force_next_flush()")
    ((changed, in_place),) = fetch_rows(UPDATES_SQL)
    figure(NAME, "longest_lock_ms", max(locks), "ms", moved)
    figure(NAME, "lock_ms_p99", statistics.quantiles(locks, n=100)[-1], "ms", len(locks))
    figure(NAME, "locks_over_50_ms", sum(one > LONG_MS for one in locks), "transactions", len(locks))
    given_up = reports[0].detail["given_up"]  # of the whole step, in each of its reports
    figure(NAME, "given_up", given_up, "transactions", len(locks))
    figure(NAME, "seconds", took, "s", moved)
    figure(NAME, "cpu_ms_per_thing", 1_000 * cpu / moved, "ms", moved)
    figure(NAME, "hot_updates_ratio", in_place / changed, "of updates", changed)


UPDATES_SQL = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'memories'"


def _cpu_seconds() -> float:
    """Return the processor's time of this process and of PostgreSQL's process for its connection."""
    from config.db.statements import fetch_rows

    ((process,),) = fetch_rows("SELECT pg_backend_pid()")
    of_backend = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return time.process_time() + (int(of_backend[11]) + int(of_backend[12])) / os.sysconf("SC_CLK_TCK")
