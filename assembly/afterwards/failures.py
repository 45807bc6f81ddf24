"""New assemblies on which a follower failed: counted, kept visible, tried again when somebody asks."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from assembly.models import FollowFailure

MOST_TOGETHER = 5
"""Failures after which an assembly is not tried together with others any more."""
MAX_ERROR_CHARACTERS = 2_000

# What was tried alone is in the table already, with the failures of its batch: then it is parked.
NOTE = """
INSERT INTO follow_failures (assembly, attempts, error, at, parked)
    SELECT one, 1, %(error)s, %(now)s, false FROM unnest(%(ids)s) AS one
    ON CONFLICT (assembly) DO UPDATE SET attempts = follow_failures.attempts + 1, error = excluded.error,
        at = excluded.at, parked = follow_failures.attempts >= %(together)s
"""


@transaction.atomic
def failures_note(ids: Sequence[UUID], error: Exception) -> None:
    """That it failed for these once more."""
    text = f"{type(error).__name__}: {error}".replace("\0", "")[:MAX_ERROR_CHARACTERS]
    with connection.cursor() as cursor:
        cursor.execute(NOTE, {"ids": sorted(ids), "error": text, "now": timezone.now(), "together": MOST_TOGETHER})


def failures_forget(ids: Sequence[UUID]) -> None:
    """It did not fail for these in the end."""
    FollowFailure.objects.filter(assembly__in=ids).delete()


def failures_parked() -> QuerySet[FollowFailure]:
    """What is left alone until somebody asks for another try, the newest first."""
    return FollowFailure.objects.filter(parked=True).order_by("-at", "-assembly")


def failures_retry() -> int:
    """Try everything again that was left alone. Returns how many these are."""
    return FollowFailure.objects.filter(parked=True).update(parked=False, at=timezone.now())
