"""Celery looks for this module in every app, so workers know these kinds of jobs."""

import os
import signal

from memories.jobs.services import Advance, job_kind
from memories.models import Job


@job_kind("kill_worker")
def kill_worker(job: Job, advance: Advance) -> None:
    """As a lack of memory does, or a fault in a library."""
    os.kill(os.getpid(), signal.SIGKILL)


@job_kind("fail")
def fail(job: Job, advance: Advance) -> None:
    """As a fault in our own code does."""
    raise RuntimeError("as expected")
