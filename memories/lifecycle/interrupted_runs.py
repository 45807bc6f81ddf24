"""What a run moved right before it was killed is reported by the next attempt, so that it can be undone as well.

A run has the id and the moment of its job, and each thing that it moved has this moment as that of its tier.
"""

import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone

from config.db.statements import fetch_rows
from memories.lifecycle.thing_tables import THING_TABLES
from memories.models import MemoryVersion
from teams.principal import SYSTEM

if TYPE_CHECKING:
    from memories.lifecycle.hourly_run import LifecycleRun

REPORTED_SQL = """
SELECT DISTINCT jsonb_array_elements_text(things) FROM lifecycle_reports WHERE run = %(run)s
"""
MOVED_SQL = """
SELECT thing.id, CASE thing.tier WHEN 'warm' THEN 'compress' WHEN 'frozen' THEN 'freeze'
    ELSE CASE WHEN {lost} THEN 'prune' ELSE 'evict' END END
FROM {table} AS thing WHERE thing.tier_since = %(at)s AND thing.tier <> 'hot' ORDER BY thing.id
"""


def report_what_was_interrupted(run: "LifecycleRun", begun: datetime.datetime) -> None:
    """Report what the run moved and merged since it began, and none of its reports names. What was evicted under
    pressure is reported as evicted.
    """
    reported = {ref for (ref,) in fetch_rows(REPORTED_SQL, {"run": run.id})}
    found: dict[str, list[str]] = {}
    for table in THING_TABLES:
        for id_, step in fetch_rows(MOVED_SQL.format(table=table.name, lost=table.lost), {"at": run.at}):
            if (ref := f"{table.kind}:{id_}") not in reported:
                found.setdefault(step, []).append(ref)
    for step, refs in found.items():
        run.report(step, refs, timezone.now(), INTERRUPTED)
    if merged := {ref: into for ref, into in _merged_since(begun).items() if ref not in reported}:
        run.report(CONSOLIDATE, list(merged), timezone.now(), {"merged_into": merged, **INTERRUPTED})


INTERRUPTED = {"interrupted": True}
CONSOLIDATE = "consolidate"


def _merged_since(begun: datetime.datetime) -> dict[str, str]:
    """Return which memories Dossier itself merged into which, the first merge first."""
    rows = MemoryVersion.objects.filter(
        created__gte=begun, updated_by=SYSTEM.author.updated_by, merged__len=1
    ).order_by("created")
    merged: list[tuple[UUID, list[UUID]]] = list(rows.values_list("file_id", "merged"))
    return {f"memory:{other}": f"memory:{kept}" for kept, [other] in merged}
