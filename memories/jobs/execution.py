"""A worker runs a job under a lease: no other worker runs it, and its progress and result are written to its row.

The lease is an advisory lock, held by a database session that does nothing else. A row lock would need a transaction as
long as the job, which would hide the progress until its end. Both are released when the worker's connection ends,
however it ended, so another worker can take the job at once. `leased_until` is no lock: it tells the sweep, which sends
overdue jobs again, when to check whether a worker is still there.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from structlog.contextvars import bound_contextvars

from config.db.replicas import note_write, replica_aliases
from memories.jobs.services import (
    KINDS,
    MAX_ATTEMPTS,
    JobFunction,
    JobStopped,
    NeverRetry,
    RetryLater,
    lease_duration,
)
from memories.models import Job
from teams.sensitivity import reading_everything

MAX_ERROR_CHARACTERS = 2_000

# The jobs of a machine that lost its power are released within half a minute, not after the system's two hours.
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


class Lease:
    """The right of one worker to run one job. Changes of the job's row are committed at once, apart from the job's
    writes.
    """

    def __init__(self, connection: BaseDatabaseWrapper, job_id: UUID, is_stopping: Callable[[], bool]) -> None:
        self._connection = connection
        self._id = job_id
        self._is_stopping = is_stopping

    def take(self) -> bool:
        """Try to lock the job and count one more attempt; return whether this worker may run it now."""
        with self._connection.cursor() as cursor:
            cursor.execute(NOTICE_DEAD_PEERS)
            cursor.execute(LOCK_SQL, {"id": self._id})
            row = cursor.fetchone()
        if not row or not row[0]:
            return False
        if self._write(BEGIN_SQL):
            return True
        self._write(PARK_SQL, error=WORKER_DIED)  # changes nothing in a job that is done, given up or deleted
        return False

    def advance(self, steps: int) -> None:
        """Record that further steps are done. Raises JobStopped where the worker must stop or the job was deleted."""
        if not self._write(ADVANCE_SQL, steps=steps) or self._is_stopping():
            raise JobStopped

    def finish(self) -> None:
        self._write(FINISH_SQL)

    def fail(self, error: Exception) -> None:
        """Record the error, and queue the job for a later attempt, or give it up after MAX_ATTEMPTS attempts."""
        told = str(error) if isinstance(error, RetryLater) else f"{type(error).__name__}: {error}"
        pause = error.pause if isinstance(error, RetryLater) else lease_duration()
        self._write(FAIL_SQL, error=told.replace("\0", "")[:MAX_ERROR_CHARACTERS], pause=pause)

    def give_up(self, message: str) -> None:
        """Record why the job failed, and do not try it again."""
        self._write(PARK_SQL, error=message.replace("\0", "")[:MAX_ERROR_CHARACTERS])

    def release(self) -> None:
        """Put the job back into the queue, and do not count this attempt."""
        self._write(RELEASE_SQL)

    def _write(self, statement: str, **values: Any) -> bool:
        known: dict[str, Any] = {"id": self._id, "patience": lease_duration(), "most": MAX_ATTEMPTS}
        with self._connection.cursor() as cursor:
            cursor.execute(statement, known | values)
            return bool(cursor.rowcount)


def job_run(*, job_id: UUID, is_stopping: Callable[[], bool] = bool) -> None:
    """Run the job, unless it is running, done, given up or deleted.

    `is_stopping` returns whether the worker is asked to stop. An exception of the job is written to its row, not
    raised.
    """
    with bound_contextvars(job=str(job_id)), _dedicated_connection() as connection:
        lease = Lease(connection, job_id, is_stopping)
        if not lease.take():
            return
        try:
            job = Job.objects.select_related("agent").get(id=job_id)
            with reading_everything():  # a job that works for somebody reads as its requester
                _function_for(job.kind)(job, lease.advance)
            if job.requested_by and replica_aliases():  # whoever sees that it is done sees what it did
                note_write(job.requested_by)
        except JobStopped:
            lease.release()
        except RetryLater as later:
            logger.warning("the job is tried again later: %s", later)
            lease.fail(later)
        except NeverRetry as final:
            logger.warning("the job is given up: %s", final)
            lease.give_up(str(final))
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
    """Open a database connection outside of the pool, and close it at the end.

    A connection of the pool would return there and keep its advisory lock; PgBouncer would lend its session to others.
    """
    connection = connections[DEFAULT_DB_ALIAS].copy()
    direct = settings.DATABASE_DIRECT or {}
    options = {name: value for name, value in connection.settings_dict["OPTIONS"].items() if name != "pool"}
    connection.settings_dict |= {**direct, "OPTIONS": options | direct.get("OPTIONS", {})}
    try:
        yield connection
    finally:
        connection.close()
