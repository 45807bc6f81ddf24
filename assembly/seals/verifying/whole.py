"""Checking everything, in one snapshot of the database and with the memory that one seal needs."""

from collections.abc import Iterator
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from assembly.models import Seal
from assembly.seals.verifying.findings import Finding, Tally
from assembly.seals.verifying.links import link_findings
from assembly.seals.verifying.parts import piece_findings, text_findings
from assembly.seals.verifying.sealed import sealed_findings
from assembly.seals.verifying.unsealed import unsealed_findings

SEALS_AT_ONCE = 20


def verify(tally: Tally, since: datetime | None = None) -> Iterator[Finding]:
    """Everything that is not as it was sealed. Counts into the tally.

    `since`: seals and records from then on; the seal before is trusted. Pieces and texts are always looked at whole.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield from _seal_findings(tally, since)
        yield from unsealed_findings(timezone.now(), since)
        yield from piece_findings(tally)
        yield from text_findings()


def _seal_findings(tally: Tally, since: datetime | None) -> Iterator[Finding]:
    seals = Seal.objects.order_by("number")
    before = None
    if since:
        before = seals.filter(created__lt=since).last()
        seals = seals.filter(number__gt=before.number) if before else seals
    for seal in seals.iterator(chunk_size=SEALS_AT_ONCE):
        tally.seals += 1
        yield from link_findings(seal, before)
        yield from sealed_findings(seal, tally)
        before = seal
