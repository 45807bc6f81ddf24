"""What is left of a search, in slices of time with about as many rows each, the newest first.

PostgreSQL keeps such moments of each table for its plans: as many rows lie between two as between any two others.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from assembly.finding.asking import rows
from assembly.finding.ways import Place, Stretch

SLICE = 100_000
"""Rows of the table, about."""
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
BOUNDS = """
SELECT histogram_bounds::text::timestamptz[] AS bounds, reltuples
FROM pg_stats JOIN pg_class ON pg_class.oid = 'assemblies'::regclass
WHERE schemaname = current_schema() AND tablename = 'assemblies' AND attname = 'created'
    AND histogram_bounds IS NOT NULL
"""


def slices_of(stretch: Stretch) -> Iterator[Stretch]:
    """The stretch in pieces, each after the one before; only one where PostgreSQL has looked at few rows or none."""
    last = min(moment for moment in (stretch.until, stretch.after and stretch.after[0], LAST) if moment)
    for bound in bounds():
        if (stretch.since or FIRST) < bound < last:
            yield replace(stretch, since=bound)
            stretch = replace(stretch, until=bound, after=None)
    yield stretch


def bounds() -> list[datetime]:
    """The moments between two slices, the last first."""
    for moments, count in rows(BOUNDS, {}):
        every = max(1, round(SLICE * len(moments) / max(count, 1)))
        return list(moments[::-every])
    return []


def end_of(stretch: Stretch) -> Place | None:
    """The place after all rows of the stretch; None where it has no end."""
    return (stretch.since, UUID(int=0)) if stretch.since else None
