"""Which steps of the last runs failed, why as far as it is known, and whether a later run did them."""

import builtins
import datetime
from dataclasses import dataclass
from enum import StrEnum

from django.utils import timezone

from memories.lifecycle.kv_policies import last_report
from memories.lifecycle.last_look import LOOKED
from memories.models import LifecycleReport

FAILED = "failed"
SHOWN_DAYS = 30


class Cause(StrEnum):
    """What was in the way, by the name of the error."""

    STORE = "store"
    KEYS = "keys"
    DATABASE = "database"
    LOST = "lost"
    OTHER = "other"


CAUSES = {
    "FrozenTextUnreachable": Cause.LOST,
    **dict.fromkeys(("KeyStoreUnavailable", "KeyStoreMissing", "MasterKeyMissing", "KeyLost"), Cause.KEYS),
    **dict.fromkeys(("OperationalError", "InterfaceError", "InternalError", "DatabaseError"), Cause.DATABASE),
}


@dataclass(frozen=True, slots=True)
class FailedStep:
    """The last failure of a step: when, how often in the last days, and whether a later run did the step."""

    step: str
    cause: Cause
    error: str
    at: datetime.datetime
    count: int
    is_done: bool


def failed_steps() -> list[FailedStep]:
    """Return the steps that failed in the last days, those that are not done yet first, then the newest first."""
    since = timezone.now() - datetime.timedelta(days=SHOWN_DAYS)
    reports = LifecycleReport.objects.filter(step=FAILED, created__gt=since).order_by("-created", "-id")
    by_step: dict[str, list[LifecycleReport]] = {}
    for report in reports:
        by_step.setdefault(report.detail["step"], []).append(report)
    looked = last_report(LOOKED)
    found = [
        FailedStep(
            step=step,
            cause=cause_of(step, rows[0].detail["error"]),
            error=rows[0].detail["error"],
            at=rows[0].created,
            count=len(rows),
            # A run that began later, and in which the step did not fail again.
            is_done=looked is not None and looked.started > rows[0].created,
        )
        for step, rows in by_step.items()
    ]
    return sorted(found, key=lambda one: (one.is_done, -one.at.timestamp()))


def cause_of(step: str, error: str) -> Cause:
    """Return what was in the way of the step. boto3's errors are made at run time, so their names are not known."""
    known = CAUSES.get(error)
    if known:
        return known
    of_python = getattr(builtins, error, None)
    is_file_error = isinstance(of_python, type) and issubclass(of_python, OSError)
    return Cause.STORE if step == "freeze" or is_file_error else Cause.OTHER
