"""A check of `manage.py check --deploy`: whether erasures are missing, because an older state was restored."""

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as DeployWarning
from django.db import DatabaseError

from config.keys.key_errors import KeysUnavailable
from privacy.erasure.ledger import lost_erasures
from privacy.models import ErasureState, SubjectErasure


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
