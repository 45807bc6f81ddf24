"""The rows of a batch are read anew, or they are readings that were made before the request came.

Readings are valid while the change counters are those of the snapshot in which they were made. The first part of each
batch reads the preconditions, which have the counters.
"""

from collections.abc import Callable, Sequence

from assembly.pipeline.read_plan import BatchedQuery, parse_preconditions
from assembly.sources.readings import Readings
from config.db.statements import Rows, Statement

Together = Callable[[Sequence[Statement]], Sequence[Rows]]
"""Reads statements in one snapshot, and returns the rows of each. Raises Django's database errors."""


def rows_with_readings(
    parts: Sequence[BatchedQuery], readings: Readings | None, together: Together, *, is_ahead: bool
) -> tuple[Sequence[Rows], bool]:
    """Return the rows of the parts, and whether they are readings; then only the preconditions were read anew.

    With `is_ahead`, the readings are being made: the rows are kept in them. A batch without the preconditions is one of
    several of a snapshot, and is read anew.
    """
    first, *others = statements = [part.statement for part in parts]
    if readings is None or parts[0].made is not parse_preconditions:
        return together(statements), False
    if is_ahead:
        found = together(statements)
        readings.keep_rows(parse_preconditions(found[0]).changes, others, found[1:])
        return found, False
    known = readings.rows_of(others)
    if known is None:
        return together(statements), False
    (rows,) = together([first])
    if parse_preconditions(rows).changes == readings.changes:
        return [rows, *known], True
    return [rows, *together(others)], False
