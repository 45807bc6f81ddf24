"""The hourly run compresses, evicts, prunes and freezes what the policies say, in small transactions.

A run may be interrupted at any moment: what was moved stays, and the next run goes on. Each step leaves reports, which
can only be added, with what it did to which things. Apps that import this one add steps of their own.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.dispatch import Signal
from django.utils import timezone
from uuid_utils.compat import uuid7

from config.db.statements import execute_sql
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, job_create, job_kind
from memories.lifecycle.kv_policies import PolicyBook, last_report
from memories.lifecycle.kv_policy import MB
from memories.lifecycle.planned_moves import (
    OwnersPolicies,
    PlannedMove,
    compressions,
    freezings,
    pressure_evictions,
    prunings,
    searched_bytes,
    size_evictions,
)
from memories.lifecycle.rebalancing import rebalance
from memories.lifecycle.thing_tables import THING_TABLES
from memories.lifecycle.transitions import LockedTooLong, things_move
from memories.models import Job, LifecycleReport, ThingUse
from teams.principal import SYSTEM

LIFECYCLE = "lifecycle"
BUDGET = "budget"
RUN_SECONDS = 3_600
FIRST_BATCH = 4
LEAST_BATCH, MOST_BATCH = 1, 64
LONG_MS, SHORT_MS = 10.0, 5.0
"""A batch whose rows were locked for longer is followed by one of half the size, a shorter one by a larger one."""
MOST_MS = 30
"""PostgreSQL ends a batch that locks rows for longer; then smaller ones are tried."""
TRIES_OF_ONE = 3
"""How often a single thing is tried. The last time has no limit: a document may have very many passages."""
ROWS_APART = 8
"""Rows that lie side by side are moved by different transactions: a page has room for few new versions at a time, and
that of the versions of earlier transactions. A version that finds room on its page needs no new entries in indexes.
"""
THINGS_PER_REPORT = 1_000
KEEP_USES_DAYS = 400
SUMMARISED_AT = (7, 3)
"""The weekday and the UTC hour in which the indexes on tiers, which are summaries of ranges of pages, are made anew."""
HIGH_SHARE, LOW_SHARE = 0.8, 0.7
"""From the high share of the budget on, things are evicted until the low share is reached."""

memory_pressure_changed = Signal()  # sender: LifecycleReport; share: of the budget, is_high: whether it is too much


@dataclass(frozen=True, slots=True)
class LifecycleRun:
    """One run: its id, which its reports have, its moment, and the function that is told of each batch."""

    at: datetime.datetime
    advance: Advance = field(default=lambda _: None)
    id: UUID = field(default_factory=uuid7)

    def report(
        self, step: str, things: Sequence[str], started: datetime.datetime, detail: Mapping[str, Any] | None = None
    ) -> None:
        """Store what a step did; of very many things, in several rows."""
        LifecycleReport.objects.bulk_create(
            LifecycleReport(
                run=self.id, step=step, started=started, changed=len(part), things=part, detail=dict(detail or {})
            )
            for part in _parts(things)
        )

    def move(self, step: str, moves: Iterable[PlannedMove], detail: Mapping[str, Any] | None = None) -> int:
        """Execute the moves, report them, and return their number; what was moved before an interruption is reported
        as well.
        """
        started, mover, moved = timezone.now(), BatchMover(self), list[str]()
        try:
            moved.extend(mover.execute(moves))
        finally:
            if moved:
                measured = {"longest_lock_ms": mover.longest_ms, "given_up": mover.given_up}
                self.report(step, moved, started, {**(detail or {}), **measured})
        return len(moved)


def _parts(things: Sequence[str]) -> list[list[str]]:
    starts = range(0, max(1, len(things)), THINGS_PER_REPORT)
    return [list(things[start : start + THINGS_PER_REPORT]) for start in starts]


class BatchMover:
    """Moves things in batches, whose size follows from how long rows of their kind were locked."""

    def __init__(self, run: LifecycleRun) -> None:
        self.run = run
        self.sizes, self.longest_ms, self.given_up = dict[str, int](), 0.0, 0

    def execute(self, moves: Iterable[PlannedMove]) -> Iterator[str]:
        """Move the things, and yield the refs of those that were moved."""
        for move in moves:
            ids, start, tried = _apart([thing.facts.id for thing in move.things]), 0, 0
            while start < len(ids):
                size = self.sizes.setdefault(move.table.kind, FIRST_BATCH)
                batch, seconds = ids[start : start + size], list[float]()
                most_ms = MOST_MS if tried < TRIES_OF_ONE - 1 else 0
                try:
                    moved = things_move(move.table, batch, move.tier, self.run.at, seconds=seconds, most_ms=most_ms)
                except LockedTooLong:
                    self.given_up += 1
                    self._measure(seconds)
                    tried += len(batch) == 1
                    self.sizes[move.table.kind] = max(LEAST_BATCH, len(batch) // 2)
                    continue
                start, tried = start + len(batch), 0
                yield from (f"{move.table.kind}:{id_}" for id_ in moved)
                self._adapt(move.table.kind, self._measure(seconds))
                self.run.advance(0)

    def _measure(self, seconds: Sequence[float]) -> float:
        """Return the longest of these times in milliseconds."""
        ms = 1_000 * max(seconds, default=0.0)
        self.longest_ms = max(self.longest_ms, round(ms, 1))
        return ms

    def _adapt(self, kind: str, ms: float) -> None:
        if ms > LONG_MS:
            self.sizes[kind] = max(LEAST_BATCH, self.sizes[kind] // 2)
        elif ms < SHORT_MS:
            self.sizes[kind] = min(MOST_BATCH, self.sizes[kind] + max(1, self.sizes[kind] // 4))


def _apart(ids: Sequence[UUID]) -> list[UUID]:
    return [id_ for first in range(ROWS_APART) for id_ in ids[first::ROWS_APART]]


further_steps: list[Callable[[LifecycleRun], None]] = []
"""Steps of apps that import this one; each writes its own reports."""


def lifecycle_run(*, now: datetime.datetime | None = None, advance: Advance = lambda _: None) -> LifecycleRun:
    """Move what the policies say, and return the run."""
    run = LifecycleRun(now or timezone.now(), advance)
    policies = OwnersPolicies(PolicyBook())
    run.move("prune", prunings(run.at))
    run.move("compress", compressions(policies, run.at))
    run.move("evict", size_evictions(policies, run.at))
    run.move("freeze", freezings(run.at))
    rebalance(run)
    for step in further_steps:
        step(run)
    relieve_pressure(run, policies)
    if (run.at.isoweekday(), run.at.hour) == SUMMARISED_AT:
        for table in THING_TABLES:
            execute_sql("SELECT summarise_tiers(%s)", [table.name])
    ThingUse.objects.filter(day__lt=run.at.date() - datetime.timedelta(days=KEEP_USES_DAYS)).delete()
    return run


def relieve_pressure(run: LifecycleRun, policies: OwnersPolicies) -> None:
    """Where hot and warm things take too much of the budget, evict the highest scores, and tell who listens."""
    share = budget_share()
    if share is None:
        return
    run.report(BUDGET, [], timezone.now(), {"share": round(share, 3)})
    is_high = share >= HIGH_SHARE
    memory_pressure_changed.send(sender=LifecycleReport, share=share, is_high=is_high)
    if is_high:
        excess = round((share - LOW_SHARE) * settings.MEMORY_BUDGET_MB * MB)
        run.move("pressure", pressure_evictions(policies, run.at, excess), {"share": round(share, 3)})
        after = budget_share() or 0.0
        if after < HIGH_SHARE:
            memory_pressure_changed.send(sender=LifecycleReport, share=after, is_high=False)


def last_budget_share() -> float | None:
    """Return the share of the budget that the last run found; None if there was none."""
    report = last_report(BUDGET)
    return float(report.detail["share"]) if report else None


def budget_share() -> float | None:
    """Return the share of the budget that hot and warm things take; None without a budget."""
    budget = settings.MEMORY_BUDGET_MB * MB
    return searched_bytes() / budget if budget else None


@job_kind(LIFECYCLE)
def run_lifecycle(_job: Job, advance: Advance) -> None:
    """Run a job that moves what the policies say."""
    lifecycle_run(advance=advance)


@periodic(RUN_SECONDS, "lifecycle")
def lifecycle_job_create() -> None:
    """Create the job of this hour, unless another worker did or the last one is unfinished."""
    recent = timezone.now() - datetime.timedelta(seconds=RUN_SECONDS * 0.9)
    jobs = Job.objects.filter(kind=LIFECYCLE)
    if not jobs.filter(status__in=UNFINISHED).exists() and not jobs.filter(created__gt=recent).exists():
        job_create(kind=LIFECYCLE, arguments={}, agent=None, principal=SYSTEM)
