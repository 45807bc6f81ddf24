"""What no seal holds: records that wait for too long, and records and prunings that somebody slipped in."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import connection

from assembly.models import Pruning, Seal
from assembly.seals.verifying.findings import Finding, Kind

LONGEST_WAIT = timedelta(minutes=15)
"""After which a record that no seal holds shows that nobody seals, or that somebody set its time back."""

UNSEALED = """
SELECT id, created < %(long_ago)s, EXISTS (SELECT FROM new_assemblies WHERE assembly = assemblies.id) FROM assemblies
    WHERE created >= %(since)s AND NOT EXISTS (SELECT FROM seals WHERE seals.assemblies @> ARRAY[assemblies.id])
"""


def unsealed_findings(now: datetime, since: datetime | None) -> Iterator[Finding]:
    """Records and prunings that no seal holds."""
    facts = {"long_ago": now - LONGEST_WAIT, "since": since or "-infinity"}
    with connection.chunked_cursor() as cursor:
        cursor.execute(UNSEALED, facts)
        for id_, is_old, is_queued in cursor:
            if not is_queued:
                sentence = f"The context {id_} was never sealed and does not wait for it: somebody slipped it in."
                yield Finding(Kind.RECORD_FORGED, str(id_), sentence)
            elif is_old:
                sentence = f"The context {id_} has waited for its seal for too long. Is there a worker that runs?"
                yield Finding(Kind.RECORD_WAITING, str(id_), sentence)
    for id_ in Pruning.objects.exclude(id__in=Seal.objects.exclude(pruning=None).values("pruning")).values_list("id"):
        sentence = f"No seal holds the pruning {id_[0]}: somebody slipped it in."
        yield Finding(Kind.PRUNING_FORGED, str(id_[0]), sentence)
