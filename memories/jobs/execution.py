"""Running a job: taken by one worker at a time, counted, its progress seen by all, its end written into its row.

The lease is an advisory lock of a session that does nothing else. A lock on the row would keep others away as well, but
needs a transaction as long as the job, which would hide the progress until its end. Like a row's lock, it dies with the
worker's connection, however the worker ended, so another may take the job at once. `leased_until` is no lock: it tells
the sweep when to look whether there still is somebody.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from structlog.contextvars import bound_contextvars

from memories.jobs.services import KINDS, MAX_ATTEMPTS, JobFunction, RetryLater, lease_duration
from memories.models import Job

MAX_ERROR_CHARACTERS = 2_000

# A machine that lost its power frees its jobs within half a minute, not after the system's two hours.
NOTICE_DEAD_PEERS = """
SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4
"""
LOCK_SQL = "SELECT pg_try_advisory_lock(hashtextextended(%(id)s::text, 0))"
BEGIN_SQL = """
UPDATE jobs SET status = 'running', attempts = attempts + 1, steps_done = 0,
    started_at = coalesce(started_at, now()), leased_until = now() + %(patience)s
WHERE id = %(id)s AND status IN ('queued', 'running') AND attempts < %(most)s
"""
PARK_SQL = """
UPDATE jobs SET status = 'parked', error = %(error)s, finished_at = now(), leased_until = NULL
WHERE id = %(id)s AND status IN ('queued', 'running')
"""
ADVANCE_SQL = (
    "UPDATE jobs SET steps_done = steps_done + %(steps)s, leased_until = now() + %(patience)s WHERE id = %(id)s"
)
FINISH_SQL = """
UPDATE jobs SET status = 'done', error = '', steps_done = steps, finished_at = now(), leased_until = NULL
WHERE id = %(id)s
"""
FAIL_SQL = """
UPDATE jobs SET error = %(error)s,
    status = CASE WHEN attempts < %(most)s THEN 'queued' ELSE 'parked' END,
    finished_at = CASE WHEN attempts < %(most)s THEN NULL ELSE now() END,
    leased_until = CASE WHEN attempts < %(most)s THEN now() + %(pause)s END
WHERE id = %(id)s
"""
RELEASE_SQL = "UPDATE jobs SET status = 'queued', attempts = attempts - 1, leased_until = now() WHERE id = %(id)s"

WORKER_DIED = (
    f"The worker died {MAX_ATTEMPTS} times while it did this, without saying why. Perhaps it needs more memory than "
    "there is. Look into the log of the worker, then try again."
)

logger = logging.getLogger(__name__)


class JobStopped(Exception):
    """The job is to be put back: its worker is asked to stop, or its row is gone."""


class Lease:
    """One worker's hold on one job. Every change of the row is committed at once, apart from what the job writes."""

    def __init__(self, connection: BaseDatabaseWrapper, job_id: UUID, is_stopping: Callable[[], bool]) -> None:
        self._connection = connection
        self._id = job_id
        self._is_stopping = is_stopping

    def take(self) -> bool:
        """Whether the job is ours now, with one more attempt on its count."""
        with self._connection.cursor() as cursor:
            cursor.execute(NOTICE_DEAD_PEERS)
            cursor.execute(LOCK_SQL, {"id": self._id})
            row = cursor.fetchone()
        if not row or not row[0]:
            return False
        if self._write(BEGIN_SQL):
            return True
        self._write(PARK_SQL, error=WORKER_DIED)  # changes nothing in a job that is done, given up or gone
        return False

    def advance(self, steps: int) -> None:
        """So many more steps are done. Raises Stopped when the job must not go on."""
        if not self._write(ADVANCE_SQL, steps=steps) or self._is_stopping():
            raise JobStopped

    def finish(self) -> None:
        self._write(FINISH_SQL)

    def fail(self, error: Exception) -> None:
        """Try again later, or give up after too many attempts."""
        told = str(error) if isinstance(error, RetryLater) else f"{type(error).__name__}: {error}"
        pause = error.pause if isinstance(error, RetryLater) else lease_duration()
        self._write(FAIL_SQL, error=told.replace("\0", "")[:MAX_ERROR_CHARACTERS], pause=pause)

    def release(self) -> None:
        """Put the job back as if this attempt had not been."""
        self._write(RELEASE_SQL)

    def _write(self, statement: str, **values: Any) -> bool:
        known: dict[str, Any] = {"id": self._id, "patience": lease_duration(), "most": MAX_ATTEMPTS}
        with self._connection.cursor() as cursor:
            cursor.execute(statement, known | values)
            return bool(cursor.rowcount)


def job_run(*, job_id: UUID, is_stopping: Callable[[], bool] = bool) -> None:
    """Do the job, unless somebody does, it is done or given up, or there is no such job any more.

    `is_stopping` tells whether the worker is asked to stop. An error of the job's is written into its row.
    """
    with bound_contextvars(job=str(job_id)), _dedicated_connection() as connection:
        lease = Lease(connection, job_id, is_stopping)
        if not lease.take():
            return
        try:
            job = Job.objects.select_related("agent").get(id=job_id)
            _function_for(job.kind)(job, lease.advance)
        except JobStopped:
            lease.release()
        except RetryLater as later:
            logger.warning("the job is tried again later: %s", later)
            lease.fail(later)
        except Exception as error:
            logger.exception("the job %s failed", job_id)
            lease.fail(error)
        else:
            lease.finish()
            logger.info("the job is done")


def _function_for(kind: str) -> JobFunction:
    if kind not in KINDS:
        raise LookupError(f"This worker knows no job called {kind}. Run workers of the same version as the server.")
    return KINDS[kind]


@contextmanager
def _dedicated_connection() -> Iterator[BaseDatabaseWrapper]:
    """A session that ends here; one of the pool's would go back to it and keep the lock."""
    connection = connections[DEFAULT_DB_ALIAS].copy()
    connection.settings_dict["OPTIONS"].pop("pool", None)
    try:
        yield connection
    finally:
        connection.close()
