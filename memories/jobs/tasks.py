"""The Celery task in this module runs a job by its id."""

import threading
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_shutting_down

import memories.archive.services
import memories.embeddings.indexing  # noqa: F401 - both imports register kinds of jobs
from memories.jobs.execution import job_run
from memories.jobs.services import RUN_JOB

_stopping = threading.Event()


@shared_task(name=RUN_JOB)
def run_job(job_id: str) -> None:
    """Run the job with this id; its result is written to its row."""
    job_run(job_id=UUID(job_id), is_stopping=_stopping.is_set)


@worker_shutting_down.connect
def stop_between_steps(**_: Any) -> None:
    """Ask the running job to stop at its next step when Celery stops the worker; another worker takes it over."""
    _stopping.set()
