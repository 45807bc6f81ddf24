"""Jobs: work done in the background. A job is a row first; a message with its id wakes a worker once it is committed.

No broker needs to be trusted: a message that got lost is sent again by the sweep, one that comes twice finds the job
taken or done (`memories/jobs/execution.py`).
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
MAX_RESENT = 500  # of one sweep, so that a long queue is not filled with repeats
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)

Advance = Callable[[int], None]
"""Told how many more steps are done. May raise, to end a job whose worker is asked to stop: let it pass."""
JobFunction = Callable[[Job, Advance], None]

KINDS: dict[str, JobFunction] = {}


class RetryLater(Exception):
    """Raised by a job that failed and knows when it may succeed: it is tried again after that pause."""

    def __init__(self, message: str, pause: timedelta) -> None:
        self.pause = pause
        super().__init__(message)


class NotParked(DossierError):
    """Only a job that was given up can be tried again."""

    status = 409
    code = "job_not_parked"
    title = "This job was not given up"


def job_kind(name: str) -> Callable[[JobFunction], JobFunction]:
    """Registers the function that does jobs of that kind. A job may be done twice: the result must be the same."""

    def register(function: JobFunction) -> JobFunction:
        KINDS[name] = function
        return function

    return register


def lease_duration() -> timedelta:
    """How long a job may be silent before it is sent again."""
    return timedelta(seconds=settings.JOB_PATIENCE_SECONDS)


@transaction.atomic
def job_create(
    *, kind: str, arguments: Mapping[str, Any], agent: Agent | None, principal: Principal, steps: int = 0
) -> Job:
    """A job to be done soon after the transaction is committed. Without an agent, it is one of the organisation."""
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
    """Start a job anew that was given up. Raises NotParked."""
    current = lock_row(job)
    if current.status != JobStatus.PARKED:
        raise NotParked(f"Only a job that was given up can be tried again; this one is {current.status}.")
    current.status, current.attempts, current.steps_done = JobStatus.QUEUED, 0, 0
    current.finished_at, current.leased_until = None, timezone.now() + lease_duration()
    current.save()
    _wake_on_commit(current)
    return current


def jobs_resend_overdue() -> int:
    """Send again the jobs that were silent for too long: never sent, lost, due for a retry, or their worker died.

    Returns how many. Each is sent by one sweep alone, however many sweep at once.
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
    """Tell a worker of the job. Raises kombu's OperationalError when the broker cannot be reached."""
    current_app.send_task(RUN_JOB, [str(job_id)])


def jobs_visible_to(principal: Principal) -> QuerySet[Job]:
    """The jobs of the agents that the principal sees; those of the organisation are for its admins."""
    jobs = Job.objects.select_related("agent")
    return jobs if principal.is_admin else jobs.filter(agent__in=Agent.objects.visible_to(principal))


def job_for(principal: Principal, id_: UUID, action: Action = Action.READ) -> Job:
    """The job with that id. Raises NotFound or Forbidden."""
    job = jobs_visible_to(principal).filter(id=id_).first()
    if job is None:
        raise NotFound(f"The job “{id_}”")
    if not may_change(principal, job, action):
        raise Forbidden("Your role does not allow this for this agent. Ask an admin of one of its teams.")
    return job


def may_change(principal: Principal, job: Job, action: Action = Action.WRITE) -> bool:
    """Whether somebody who sees the job may do this with it."""
    return principal.is_admin or (job.agent is not None and is_permitted(principal, job.agent, action))


def _wake_on_commit(job: Job) -> None:
    # robust: a broker that is away fails no request, for the sweep will send the message. No partial: it has no name,
    # which Django wants to log.
    transaction.on_commit(lambda: wake(job.id), robust=True)
