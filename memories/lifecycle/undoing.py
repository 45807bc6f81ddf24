"""A person can undo what a run left out of search or merged: everything that its report names is as before.

Later runs leave it so, see `undone_moves`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from config.http.errors import Conflict, DossierError
from memories.jobs.services import UNFINISHED, Advance, job_create, job_kind
from memories.lifecycle.hourly_run import LifecycleRun
from memories.lifecycle.thing_tables import TABLES_BY_KIND
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.undone_moves import BROUGHT_BACK, UNDO, UNDONE
from memories.models import Job, LifecycleReport, Memory
from memories.services.memory_merging import memories_unmerge
from teams.principal import SYSTEM, Principal

BATCH = 50


@transaction.atomic
def lifecycle_undo(*, report: LifecycleReport, principal: Principal) -> Job:
    """Create the job that undoes what the report names, and return it. The caller must check the permission.

    Raises Conflict where that was undone already, or nothing can be undone.
    """
    if report.step not in UNDOING or not report.things:
        raise Conflict("Nothing that this report names needs to be undone.")
    waiting = Job.objects.filter(kind=UNDO, arguments__report=str(report.id), status__in=UNFINISHED)
    if waiting.exists() or undo_of(report):
        raise Conflict("This was undone already.")
    arguments = {"report": str(report.id), "by": principal.name}
    return job_create(kind=UNDO, arguments=arguments, agent=None, principal=principal, steps=len(report.things))


def undo_of(report: LifecycleReport) -> LifecycleReport | None:
    """Return the report of what undid this one; None if nothing did."""
    return LifecycleReport.objects.filter(step=UNDONE, detail__undone=str(report.id)).first()


@job_kind(UNDO)
def undo_lifecycle(job: Job, advance: Advance) -> None:
    """Run a job that undoes what a report names, and reports what it did."""
    report = LifecycleReport.objects.get(id=job.arguments["report"])
    if undo_of(report):
        return
    started, failed = timezone.now(), list[str]()
    undone = list(UNDOING[report.step](report, advance, failed))
    detail = {"undone": str(report.id), "by": job.arguments["by"], "failed": failed}
    LifecycleRun(started, id=report.run).report(UNDONE, undone, started, detail)


def _bring_back(report: LifecycleReport, advance: Advance, _failed: list[str]) -> Iterator[str]:
    """Make the things hot, and yield the refs of those that were not."""
    by_kind: dict[str, list[UUID]] = {}
    for ref in report.things:
        kind, _, id_ = ref.partition(":")
        by_kind.setdefault(kind, []).append(UUID(id_))
    for kind, ids in by_kind.items():
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            yield from (f"{kind}:{id_}" for id_ in things_move(TABLES_BY_KIND[kind], some, Tier.HOT))
            advance(len(some))


def _separate(report: LifecycleReport, advance: Advance, failed: list[str]) -> Iterator[str]:
    """Separate memories from those into which they were merged, the last merge first, and yield their refs.

    Those that somebody separated or deleted meanwhile are left alone. What cannot be separated is added to `failed`.
    """
    pairs: Sequence[tuple[str, str]] = list(report.detail["merged_into"].items())
    for other, into in reversed(pairs):
        merged = UUID(other.removeprefix("memory:"))
        kept = Memory.objects.filter(id=into.removeprefix("memory:"), supersedes=merged).first()
        try:
            if kept:
                memories_unmerge(memory=kept, expected_version=kept.version, other=merged, principal=SYSTEM)
                yield other
        except DossierError:  # somebody changed one of them meanwhile, or its text cannot be read now
            failed.append(other)
        advance(1)


UNDOING: Mapping[str, Callable[[LifecycleReport, Advance, list[str]], Iterator[str]]] = {
    **dict.fromkeys(BROUGHT_BACK, _bring_back),
    "consolidate": _separate,
}
"""These functions undo the steps of a run; other steps hide nothing. Each adds the refs of what fails to a list."""
