"""Erasures are repeated in a database that lacks them, because an older state of it was restored.

Workers look at their start and every hour, and `manage.py repeat_erasures` does so at once. The repeated erasure has
the id of the first one, so it is repeated once, however many look. The same job does it, with a seal of its own. Until
then, a check of `manage.py check --deploy` says so.
"""

import logging
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as DeployWarning
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import Max

from config.keys.key_errors import KeysUnavailable
from memories.jobs.periodic import periodic
from privacy.erasure.erasure_job import erasure_job
from privacy.erasure.ledger import LedgerEntry, entry_read, lost_erasures
from privacy.erasure.sought import seal_spellings
from privacy.models import ErasureState, SubjectErasure
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import SYSTEM

HOUR_SECONDS = 3_600

logger = logging.getLogger(__name__)


@periodic(HOUR_SECONDS, "lost erasures")
def repeat_lost_erasures() -> None:
    """Begin to repeat the erasures that this database lacks."""
    try:
        begun = erasures_repeat()
    except KeysUnavailable as error:
        logger.warning("whether erasures are missing is not known: %s", error.detail)
        return
    if begun:
        logger.warning("%d erasures are repeated: an older state of the database was restored", len(begun))


def erasures_repeat() -> list[SubjectErasure]:
    """Begin to repeat the erasures that this database lacks, and return them; a job for each does the work.

    One whose subject is just being erased by another one is left for the next time, and so is one that another process
    repeats. Raises KeyStoreUnavailable and MasterKeyMissing.
    """
    entries = [entry for id_ in lost_erasures() if (entry := entry_read(id_))]
    return [erasure for entry in entries if (erasure := _repeat(entry))]


def _repeat(entry: LedgerEntry) -> SubjectErasure | None:
    try:
        with transaction.atomic():
            last = SubjectErasure.objects.aggregate(last=Max("number"))["last"] or 0
            erasure = SubjectErasure(
                id=entry.erasure,
                number=last + 1,
                subject_id=entry.subject_id,
                requested_by=entry.requested_by,
                requester_name=entry.requester_name,
                reason=entry.reason,
                whole=entry.whole,
                spared=entry.spared,
                sealed_spellings=seal_spellings(entry.spellings),
                repeats={"number": entry.number, "completed_at": entry.completed_at.isoformat()},
            )
            erasure.save(force_insert=True)
            erasure.job_id = erasure_job(erasure).id
            erasure.save(update_fields=["job_id"])
            detail = {"erasure": erasure.number, "repeats": entry.number}
            activity_record(
                SYSTEM,
                ActivityAction.SUBJECT_ERASED,
                f"subject:{entry.subject_id}",
                detail=detail,
                reason=entry.reason,
            )
            return erasure
    except IntegrityError:
        logger.info("the erasure %s is repeated by another process, or after another one", entry.erasure)
        return None


@register(Tags.security, deploy=True)
def check_erasures(**_: Any) -> list[CheckMessage]:
    """Return how many erasures this database lacks, and how many are being repeated."""
    try:
        lost = len(lost_erasures())
        repeated = SubjectErasure.objects.exclude(repeats=None).exclude(state=ErasureState.FINISHED).count()
    except (DatabaseError, KeysUnavailable):  # which other checks report
        return []
    found: list[CheckMessage] = []
    if lost:
        sentence = f"{lost:,} completed erasures are not in this database: an older state of it was restored."
        hint = "Start a worker, or run `manage.py repeat_erasures`. Until then, erased data of people is there again."
        found.append(Error(sentence, hint=hint, id="privacy.E001"))
    if repeated:
        sentence = f"{repeated:,} erasures are being repeated, because an older state of the database was restored."
        hint = "The page Erasures says what they wait for."
        found.append(DeployWarning(sentence, hint=hint, id="privacy.W001"))
    return found
