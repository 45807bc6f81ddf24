"""How often what contexts are made of has changed: the counts that triggers of the database raise."""

from uuid import UUID

from django.db import connection

COUNTS = """
SELECT coalesce((SELECT sum(value) FROM change_counters WHERE owner = asked), 0)::bigint
FROM unnest(%(owners)s::uuid[]) WITH ORDINALITY AS owners (asked, place) ORDER BY place
"""


def changes_of(*owners: UUID) -> tuple[int, ...]:
    """The count of each owner, in the order given; owners are agents, teams and ORGANISATION.

    Each statement that changes something of an owner adds at least one, and is counted as soon as it is committed. So
    where two counts of an owner are equal, nothing of it changed between the snapshots in which they were read.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, {"owners": list(owners)})
        return tuple(count for (count,) in cursor.fetchall())
