"""What a person brought back into search stays there: evictions and prunings of later runs spare it.

It is spared until somebody saves a change of the thing. A saved policy ends it for the evictions by that policy, whose
preview counts the thing again.
"""

import datetime
from collections.abc import Mapping
from uuid import UUID

from config.db.statements import fetch_rows
from memories.jobs.services import UNFINISHED
from memories.lifecycle.thing_tables import THING_TABLES

UNDO = "undo_lifecycle"
UNDONE = "undo"
BROUGHT_BACK = ("prune", "evict", "pressure")
"""The steps whose undo brings things back into search."""
UUID_PATTERN = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""Erasure replaces what it finds in reports, so that a text in one need not be a ref."""

_THINGS = " UNION ALL ".join(
    f"""SELECT thing.id, back.at FROM back JOIN {table.name} AS thing ON thing.id = back.id
    WHERE back.kind = '{table.kind}' AND {table.changed} <= back.at"""  # noqa: S608 - constant names
    for table in THING_TABLES
)
BACK_SQL = f"""
WITH undo AS (
    SELECT detail ->> 'undone' AS report, created FROM lifecycle_reports WHERE step = '{UNDONE}'
    UNION ALL
    SELECT arguments ->> 'report', created FROM jobs WHERE kind = '{UNDO}' AND status = ANY(%(unfinished)s)
), back AS MATERIALIZED (
    SELECT split_part(ref, ':', 1) AS kind, CASE WHEN ref ~ '^[a-z]+:{UUID_PATTERN}$' THEN split_part(ref, ':', 2)::uuid
        END AS id, max(undo.created) AS at
    FROM undo JOIN lifecycle_reports AS undone ON undone.step = ANY(%(steps)s)
        AND undone.id = CASE WHEN undo.report ~ '^{UUID_PATTERN}$' THEN undo.report::uuid END
    CROSS JOIN LATERAL jsonb_array_elements_text(undone.things) AS ref GROUP BY 1, 2
)
{_THINGS}
"""  # noqa: S608 - only constants are put in


def brought_back() -> Mapping[UUID, datetime.datetime]:
    """Return when each thing was brought back that nobody has changed since, also by undos that are not done yet."""
    parameters = {"unfinished": [status.value for status in UNFINISHED], "steps": list(BROUGHT_BACK)}
    return dict(fetch_rows(BACK_SQL, parameters))
