"""Each worker runs periodic tasks in threads, at its start and then at fixed intervals, while it runs jobs."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from config.db.distribution.distributed_tables import FOLLOW_EFFECTS
from config.db.replicas import note_write, replica_aliases
from config.db.statements import fetch_rows
from config.http.models import LastWrite
from memories.jobs.services import jobs_resend_overdue, lease_duration
from teams.sign_in.attempts import full_limits_delete
from teams.sign_in.session_store import SessionStore

logger = logging.getLogger(__name__)

SIGN_IN_SECONDS = 3_600
HEARTBEAT_SECONDS = 5
LAST_WRITE_RETENTION = timedelta(days=1)
"""Longer than any lag of a replica that is read."""

Work = Callable[[], None]


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """A function that workers run periodically: the name of its thread, the seconds between two runs, the function."""

    name: str
    seconds: float
    work: Work


PERIODIC_TASKS: list[PeriodicTask] = []


def periodic(seconds: float, name: str) -> Callable[[Work], Work]:
    """Return a decorator that registers a function for every worker to run at this interval (seconds).

    Several workers may run the function at once, so it must allow for that.
    """

    def register(work: Work) -> Work:
        PERIODIC_TASKS.append(PeriodicTask(name, seconds, work))
        return work

    return register


@periodic(SIGN_IN_SECONDS, "sign-in")
def delete_expired_sign_ins() -> None:
    """Delete sign-in limits that are full again, and browser sessions that have expired."""
    full_limits_delete()
    SessionStore.clear_expired()


@periodic(HEARTBEAT_SECONDS, "heartbeat")
def write_heartbeat() -> None:
    """Commit something for read replicas, which tell their lag by the last transaction that they have replayed."""
    if replica_aliases():
        note_write("heartbeat")


@periodic(HEARTBEAT_SECONDS, "owner effects")
def follow_owner_effects() -> None:
    """Do to tables of the coordinator what follows from changes of distributed rows."""
    if settings.DATABASE_DISTRIBUTED:
        fetch_rows(f"SELECT {FOLLOW_EFFECTS}()")


@periodic(SIGN_IN_SECONDS, "last writes")
def delete_old_last_writes() -> None:
    """Delete positions of writes that every replica has, or that is not read because it lacks them."""
    LastWrite.objects.filter(written_at__lt=timezone.now() - LAST_WRITE_RETENTION).delete()


def start_periodic_tasks() -> None:
    """Run all periodic tasks in daemon threads until this process ends; many processes may do so at once."""
    for sweep in [PeriodicTask("sweep", lease_duration().total_seconds(), resend_overdue_jobs), *PERIODIC_TASKS]:
        threading.Thread(target=_repeat, args=[sweep], name=sweep.name, daemon=True).start()


def resend_overdue_jobs() -> None:
    """Send jobs to workers again that have made no progress for longer than a lease."""
    if sent := jobs_resend_overdue():
        logger.info("sent %d silent jobs again", sent)


def _repeat(sweep: PeriodicTask) -> None:
    while True:
        try:
            sweep.work()
        except Exception:
            logger.exception("the sweep “%s” failed; the next one is in %d s", sweep.name, sweep.seconds)
        finally:
            connection.close()
        time.sleep(sweep.seconds)
