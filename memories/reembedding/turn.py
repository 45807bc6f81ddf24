"""Only one process changes the embedder. PostgreSQL frees the place when that process ends, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from django.db import connections
from django.db.backends.utils import CursorWrapper

from memories.reembedding.errors import BadChange

PLACE = 7_301_002
"""An advisory lock of the owner's session."""
PATIENCE_SECONDS = 5.0
"""PostgreSQL needs a moment to see that a process was killed."""
LOOK_AGAIN_SECONDS = 0.2


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Raises BadChange where another process is at it."""
    with connections["owner"].cursor() as cursor:
        # A long statement, as the building of an index, ends with the process that asked for it.
        cursor.execute("SET client_connection_check_interval = '1s'")
        until = monotonic() + PATIENCE_SECONDS
        while not _taken(cursor):
            if monotonic() > until:
                raise BadChange("Another process is changing the embedder. Wait for its end; see `reembed --status`.")
            sleep(LOOK_AGAIN_SECONDS)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [PLACE])


def _taken(cursor: CursorWrapper) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [PLACE])
    return bool(cursor.fetchone()[0])
