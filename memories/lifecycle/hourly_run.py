"""The hourly run compresses what the policies say, in small transactions, and once a day evicts, prunes and freezes.

A run may be interrupted at any moment: what was moved stays, and the next run goes on. Each step leaves reports, which
can only be added, with what it did to which things. Apps that import this one add steps of their own.
"""

import datetime
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.dispatch import Signal
from django.utils import timezone
from uuid_utils.compat import uuid7

from config.db.partitions.divided_tables import is_of_exchange
from config.db.statements import execute_sql
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, JobStopped, job_create, job_kind
from memories.lifecycle.failed_steps import FAILED
from memories.lifecycle.frozen_texts import FrozenTexts
from memories.lifecycle.interrupted_runs import report_what_was_interrupted
from memories.lifecycle.kv_policies import PolicyBook, last_report
from memories.lifecycle.kv_policy import MB
from memories.lifecycle.last_look import last_look, store_look
from memories.lifecycle.lock_limit import LockedTooLong
from memories.lifecycle.planned_moves import (
    OwnersPolicies,
    PlannedMove,
    compressions,
    freezings,
    prunings,
)
from memories.lifecycle.rebalancing import rebalance
from memories.lifecycle.size_evictions import pressure_evictions, searched_bytes, size_evictions
from memories.lifecycle.thing_tables import THING_TABLES
from memories.lifecycle.tier_checks import look_again
from memories.lifecycle.transitions import things_move
from memories.models import Job, JobStatus, LifecycleReport, ThingUse
from teams.principal import SYSTEM

logger = logging.getLogger(__name__)

LIFECYCLE = "lifecycle"
BUDGET = "budget"
EVERY_HOUR = {"compress"}
"""The steps of an hourly run that move things; the others read everything, and are done once a day."""
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
        started, mover, moved, total = timezone.now(), BatchMover(self), list[str](), 0
        try:
            for ref in mover.execute(moves):
                moved.append(ref)
                total += 1
                if len(moved) >= THINGS_PER_REPORT:
                    self.report(step, moved, started, {**(detail or {}), **mover.measured})
                    moved = []
        finally:
            if moved:
                self.report(step, moved, started, {**(detail or {}), **mover.measured})
        return total


def _parts(things: Sequence[str]) -> list[list[str]]:
    starts = range(0, max(1, len(things)), THINGS_PER_REPORT)
    return [list(things[start : start + THINGS_PER_REPORT]) for start in starts]


class BatchMover:
    """Moves things in batches, whose size follows from how long rows of their kind were locked."""

    def __init__(self, run: LifecycleRun) -> None:
        self.run = run
        self.sizes, self.longest_ms, self.given_up = dict[str, int](), 0.0, 0
        self.frozen: FrozenTexts = {}

    @property
    def measured(self) -> dict[str, Any]:
        """What a report says about how rows were locked until now."""
        return {"longest_lock_ms": self.longest_ms, "given_up": self.given_up}

    def execute(self, moves: Iterable[PlannedMove]) -> Iterator[str]:
        """Move the things, and yield the refs of those that were moved."""
        for move in moves:
            look_again(move.table.name, move.dues)
            ids, start, tried = _apart([thing.facts.id for thing in move.things]), 0, 0
            while start < len(ids):
                size = self.sizes.setdefault(move.table.kind, FIRST_BATCH)
                batch, seconds = ids[start : start + size], list[float]()
                most_ms = MOST_MS if tried < TRIES_OF_ONE - 1 else 0
                try:
                    limits: Any = {"seconds": seconds, "most_ms": most_ms, "frozen_texts": self.frozen}
                    moved = things_move(move.table, batch, move.tier, self.run.at, **limits)
                except LockedTooLong:
                    self.given_up += 1
                    self._measure(seconds)
                    tried += len(batch) == 1
                    self.sizes[move.table.kind] = max(LEAST_BATCH, len(batch) // 2)
                    continue
                start, tried, self.frozen = start + len(batch), 0, self._without(batch)
                yield from (f"{move.table.kind}:{id_}" for id_ in moved)
                self._adapt(move.table.kind, self._measure(seconds))
                self.run.advance(0)

    def _without(self, batch: Sequence[UUID]) -> FrozenTexts:
        """Return the frozen texts whose things wait for a smaller batch."""
        return {key: frozen for key, frozen in self.frozen.items() if key[0] not in batch}

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


class StepsFailed(Exception):
    """Raised at the end of a run in which steps failed; the others were done."""


def lifecycle_run(
    *, now: datetime.datetime | None = None, advance: Advance = lambda _: None, id_: UUID | None = None
) -> LifecycleRun:
    """Move what the policies say, and return the run. A step that fails is reported, and the others are done; then
    StepsFailed is raised.
    """
    run, begun = LifecycleRun(now or timezone.now(), advance, id_ or uuid7()), timezone.now()
    policies, look = OwnersPolicies(PolicyBook()), last_look(run.at)
    grown, sizes = list[int](), list[int | None]()

    def relieve() -> None:
        known = None if look is None or look.stored_bytes is None else look.stored_bytes + sum(grown)
        sizes.append(relieve_pressure(run, policies, known))

    looking: list[tuple[str, Callable[[], object]]] = [
        ("prune", lambda: run.move("prune", prunings(policies, run.at))),
        ("compress", lambda: run.move("compress", compressions(policies, run.at, look, grown=grown.append))),
        ("evict", lambda: run.move("evict", size_evictions(policies, run.at))),
        ("freeze", lambda: run.move("freeze", freezings(run.at))),
    ]
    steps: list[tuple[str, Callable[[], object]]] = [
        *(one for one in looking if look is None or one[0] in EVERY_HOUR),
        *([("rebalance", lambda: rebalance(run))] if look is None else []),
        *((step.__name__, partial(step, run)) for step in further_steps),
        ("pressure", relieve),
        ("clean_up", lambda: _clean_up(run)),
    ]
    failed = {name: error for name, step in steps if (error := _step_error(run, name, step))}
    if not failed.keys() & dict(looking):
        store_look(run, begun, look, sizes[0] if sizes else None)
    if failed:
        told = "; ".join(f"{name}: {type(error).__name__}: {error}" for name, error in failed.items())
        raise StepsFailed(told) from next(iter(failed.values()))
    return run


def _step_error(run: LifecycleRun, name: str, step: Callable[[], object]) -> Exception | None:
    """Execute the step, and return the error that ended it, which is reported; None if it was done.

    A step that met the exchange of a table for a divided one is executed once more: what it moved stays moved.
    """
    started = timezone.now()
    for is_last in (False, True):
        try:
            step()
        except JobStopped:
            raise
        except Exception as error:
            if not is_last and is_of_exchange(error):
                logger.warning("a table was exchanged during the step %s: it is executed again", name)
                continue
            logger.exception("the step %s of the lifecycle run failed", name)
            run.report(FAILED, [], started, {"step": name, "error": type(error).__name__})
            return error
        break
    return None


def _clean_up(run: LifecycleRun) -> None:
    if (run.at.isoweekday(), run.at.hour) == SUMMARISED_AT:
        for table in THING_TABLES:
            execute_sql("SELECT summarise_tiers(%s)", [table.name])
    ThingUse.objects.filter(day__lt=run.at.date() - datetime.timedelta(days=KEEP_USES_DAYS)).delete()


def relieve_pressure(run: LifecycleRun, policies: OwnersPolicies, known: int | None = None) -> int | None:
    """Where hot and warm things take too much of the budget, evict the highest scores, and tell who listens.

    Return their size in bytes afterwards; None without a budget. Without a `known` size, or where that is too much, all
    things are counted.
    """
    budget = settings.MEMORY_BUDGET_MB * MB
    if not budget:
        return None
    size = searched_bytes() if known is None or known >= HIGH_SHARE * budget else known
    share, is_high = size / budget, size >= HIGH_SHARE * budget
    run.report(BUDGET, [], timezone.now(), {"share": round(share, 3)})
    memory_pressure_changed.send(sender=LifecycleReport, share=share, is_high=is_high)
    if is_high:
        excess = round(size - LOW_SHARE * budget)
        run.move("pressure", pressure_evictions(policies, run.at, excess), {"share": round(share, 3)})
        size = searched_bytes()
        if size < HIGH_SHARE * budget:
            memory_pressure_changed.send(sender=LifecycleReport, share=size / budget, is_high=False)
    return size


def last_budget_share() -> float | None:
    """Return the share of the budget that the last run found; None if there was none."""
    report = last_report(BUDGET)
    return float(report.detail["share"]) if report else None


@job_kind(LIFECYCLE)
def run_lifecycle(job: Job, advance: Advance) -> None:
    """Run a job that moves what the policies say, after it reported what it moved before it was killed; and
    what the last job did, if that was given up.
    """
    last = Job.objects.filter(kind=LIFECYCLE, created__lt=job.created).order_by("-created").first()
    given_up = [last] if last and last.status == JobStatus.PARKED else []
    for one in (*given_up, *([job] if job.attempts > 1 else [])):
        report_what_was_interrupted(LifecycleRun(one.created, advance, one.id), one.created)
    lifecycle_run(now=job.created, advance=advance, id_=job.id)


@periodic(RUN_SECONDS, "lifecycle")
def lifecycle_job_create() -> None:
    """Create the job of this hour, unless another worker did or the last one is unfinished."""
    recent = timezone.now() - datetime.timedelta(seconds=RUN_SECONDS * 0.9)
    jobs = Job.objects.filter(kind=LIFECYCLE)
    if not jobs.filter(status__in=UNFINISHED).exists() and not jobs.filter(created__gt=recent).exists():
        job_create(kind=LIFECYCLE, arguments={}, agent=None, principal=SYSTEM)
