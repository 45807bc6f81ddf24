"""This module creates jobs, which are work done in the background, sends them to workers, and says who may see them.

A job is a row first; when the row is committed, a message with its id wakes a worker. The broker need not be reliable:
a periodic task (the sweep) sends lost messages again, and a worker ignores a job that is running or done
(`memories/jobs/execution.py`).
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agents.access import is_permitted
from agents.models import Agent
from config.http.errors import DossierError, Forbidden, NotFound
from memories.models import Job, JobStatus
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import lock_row

RUN_JOB = "memories.run_job"
MAX_ATTEMPTS = 5
MAX_RESENT = 500  # by one sweep, so that a long queue is not filled with repeats
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)

Advance = Callable[[int], None]
"""A function that records further steps as done. Jobs must let its exceptions pass: they end a job that has to stop."""
JobFunction = Callable[[Job, Advance], None]

KINDS: dict[str, JobFunction] = {}


class RetryLater(Exception):
    """Raised by a job that failed and may succeed after a pause: it is queued for another attempt then."""

    def __init__(self, message: str, pause: timedelta) -> None:
        self.pause = pause
        super().__init__(message)


class NeverRetry(Exception):
    """Raised by a job that further attempts cannot help: it is given up at once, and its row has the message."""


class JobStopped(Exception):
    """Raised to put a running job back into the queue: its worker is asked to stop, or its row was deleted."""


class NotParked(DossierError):
    """Raised where somebody retries a job that was not given up."""

    status = 409
    code = "job_not_parked"
    title = "This job has not failed"


def job_kind(name: str) -> Callable[[JobFunction], JobFunction]:
    """Return a decorator that registers the function which runs jobs of this kind.

    A job may run twice, so a second run must lead to the same result.
    """

    def register(function: JobFunction) -> JobFunction:
        KINDS[name] = function
        return function

    return register


def lease_duration() -> timedelta:
    """Return how long a job may go without progress before it is sent to workers again."""
    return timedelta(seconds=settings.JOB_PATIENCE_SECONDS)


@transaction.atomic
def job_create(
    *, kind: str, arguments: Mapping[str, Any], agent: Agent | None, principal: Principal, steps: int = 0
) -> Job:
    """Create a job that runs soon after the transaction is committed, and return it.

    A job without an agent belongs to the organisation.
    """
    job = Job.objects.create(
        kind=kind,
        arguments=dict(arguments),
        agent=agent,
        steps=steps,
        requested_by=principal.ref,
        leased_until=timezone.now() + lease_duration(),
    )
    _wake_on_commit(job)
    return job


@transaction.atomic
def job_retry(*, job: Job) -> Job:
    """Queue a job again that was given up, with no attempts counted, and return it. Raises NotParked for others."""
    current = lock_row(job)
    if current.status != JobStatus.PARKED:
        raise NotParked(f"Only a job that was given up can be tried again; this one is {current.status}.")
    current.status, current.attempts, current.steps_done = JobStatus.QUEUED, 0, 0
    current.finished_at, current.leased_until = None, timezone.now() + lease_duration()
    current.save()
    _wake_on_commit(current)
    return current


def jobs_resend_overdue() -> int:
    """Send overdue jobs again, which were never sent, lost, due for a retry or whose worker died; return their number.

    Several sweeps may run at once; each job is sent by one of them.
    """
    now = timezone.now()
    silent = Job.objects.filter(Q(leased_until__lt=now) | Q(leased_until=None), status__in=UNFINISHED)
    with transaction.atomic():
        rows = silent.select_for_update(no_key=True, skip_locked=True).order_by(F("leased_until").asc(nulls_first=True))
        ids = list(rows.values_list("id", flat=True)[:MAX_RESENT])
        Job.objects.filter(id__in=ids).update(leased_until=now + lease_duration())
    for id_ in ids:
        wake(id_)
    return len(ids)


def wake(job_id: UUID) -> None:
    """Send the job's id to a worker. Raises kombu's OperationalError where the broker cannot be reached."""
    current_app.send_task(RUN_JOB, [str(job_id)])


def jobs_visible_to(principal: Principal) -> QuerySet[Job]:
    """Return the jobs of the agents that the principal can see; admins see all jobs, also those of the organisation."""
    jobs = Job.objects.select_related("agent")
    return jobs if principal.is_admin else jobs.filter(agent__in=Agent.objects.visible_to(principal))


def job_for(principal: Principal, id_: UUID, action: Action = Action.READ) -> Job:
    """Return the job with that id. Raises NotFound or Forbidden."""
    job = jobs_visible_to(principal).filter(id=id_).first()
    if job is None:
        raise NotFound(f"The job “{id_}”")
    if not may_change(principal, job, action):
        raise Forbidden("Your role does not allow this for this agent. Ask an admin of one of its teams.")
    return job


def may_change(principal: Principal, job: Job, action: Action = Action.WRITE) -> bool:
    """Return whether a principal who can see the job may do this action with it."""
    return principal.is_admin or (job.agent is not None and is_permitted(principal, job.agent, action))


def _wake_on_commit(job: Job) -> None:
    # `robust`: a request does not fail where the broker is down, because the sweep sends the message later. A lambda,
    # because Django logs the function's name, which a partial has not.
    transaction.on_commit(lambda: wake(job.id), robust=True)
