"""The sweeps: what a worker does beside its jobs, at its start and again and again."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection

from memories.jobs.services import jobs_resend_overdue, lease_duration
from teams.sign_in.attempts import full_limits_delete
from teams.sign_in.session_store import SessionStore

logger = logging.getLogger(__name__)

SIGN_IN_SECONDS = 3_600

Work = Callable[[], None]


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """A thread's name, how long it rests between two turns, and what it does."""

    name: str
    seconds: float
    work: Work


PERIODIC_TASKS: list[PeriodicTask] = []


def periodic(seconds: float, name: str) -> Callable[[Work], Work]:
    """Registers what each worker does that often. Several may at the same time: the function sees to it."""

    def register(work: Work) -> Work:
        PERIODIC_TASKS.append(PeriodicTask(name, seconds, work))
        return work

    return register


@periodic(SIGN_IN_SECONDS, "sign-in")
def delete_expired_sign_ins() -> None:
    """Delete limits that are full again, and sessions whose time is over."""
    full_limits_delete()
    SessionStore.clear_expired()


def start_periodic_tasks() -> None:
    """Sweep in threads until this process ends. Many may: each job is sent again by one of them."""
    for sweep in [PeriodicTask("sweep", lease_duration().total_seconds(), resend_overdue_jobs), *PERIODIC_TASKS]:
        threading.Thread(target=_repeat, args=[sweep], name=sweep.name, daemon=True).start()


def resend_overdue_jobs() -> None:
    """Those of which nothing was heard for too long."""
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
