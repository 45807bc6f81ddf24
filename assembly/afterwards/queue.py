"""How many records wait for those that follow them: seals, counts of trends, alerts."""

from dataclasses import dataclass

from django.db import connection

# An id says when its assembly was made, so the least is the oldest; what it was made of needs no look.
QUEUE = """
WITH queue AS (
    SELECT assembly, coalesce(parked, false) AS parked FROM new_assemblies LEFT JOIN follow_failures USING (assembly)
), oldest AS (SELECT assembly FROM queue WHERE NOT parked ORDER BY assembly LIMIT 1)
SELECT count(*) FILTER (WHERE NOT parked), count(*) FILTER (WHERE parked), coalesce(extract(epoch FROM
    clock_timestamp() - (SELECT created FROM assemblies WHERE id = (SELECT assembly FROM oldest))), 0)::float8
FROM queue
"""


@dataclass(frozen=True, slots=True)
class Queue:
    """So many wait, the oldest for so many seconds; so many are left alone until somebody asks for another try."""

    waiting: int
    parked: int
    oldest_seconds: float


def queue_now() -> Queue:
    """As it stands, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(QUEUE)
        waiting, parked, seconds = cursor.fetchone()
    return Queue(waiting, parked, max(0.0, seconds))
