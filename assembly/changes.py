"""How often what contexts are made of has changed: the counts that triggers of the database raise."""

from collections.abc import Iterable
from uuid import UUID

from config.http.statements import Statement, rows_of

COUNTS = """
SELECT coalesce((SELECT sum(value) FROM change_counters WHERE owner = asked), 0)::bigint
FROM unnest(%(owners)s::uuid[]) WITH ORDINALITY AS owners (asked, place) ORDER BY place
"""
CHANGES = f"SELECT array({COUNTS}) AS changes"


def changes_of(*owners: UUID) -> tuple[int, ...]:
    """The count of each owner, in the order given; owners are agents, teams and ORGANISATION.

    Each statement that changes something of an owner adds at least one, and is counted as soon as it is committed. So
    where two counts of an owner are equal, nothing of it changed between the snapshots in which they were read.
    """
    ((changes,),) = rows_of(Statement(CHANGES, {"owners": owners_spelled(owners)}))
    return tuple(changes)


def owners_spelled(owners: Iterable[UUID]) -> str:
    """As PostgreSQL spells an array of them: to make one takes longer than to look them up."""
    return f"{{{','.join(map(str, owners))}}}"
