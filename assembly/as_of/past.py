"""The database as it was at a moment: for one transaction, which is undone, its tables hold what they held then.

What reads contexts names tables without a schema. So the same statements read the past where temporary relations of the
same names are found first, and nothing on the way to a context has to know of it.
"""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import GeneratedField

from assembly.as_of.tables import MEMORIES, VIEWS
from memories.models import Memory

ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"
SET = """
SELECT set_config('dossier.as_of', %s, true), set_config('dossier.as_of_owners', %s, true)
"""
# Searches of large owners name places of rows, which a view has not, and go from row to row by time.
LAY_MEMORIES = f"""
CREATE TEMPORARY TABLE memories ON COMMIT DROP AS {MEMORIES};
CREATE INDEX ON memories (id);
CREATE INDEX ON memories (agent_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (team_id, (coalesce(occurred_at, created)));
CREATE INDEX ON memories (agent_id, language) WHERE language <> 'english';
CREATE INDEX ON memories (team_id, language) WHERE language <> 'english';
"""
LAY_VIEWS = ";".join(f"CREATE TEMPORARY VIEW {name} AS {rows}" for name, rows in VIEWS.items())
# Another path than before: so PostgreSQL plans prepared statements anew, now and once this is over. From here on
# nothing but what is temporary can be written.
ENTER = """
SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true);
SET LOCAL transaction_read_only = on
"""


@contextmanager
def past(moment: datetime.datetime, owners: Sequence[UUID]) -> Iterator[None]:
    """Within, the database is as it was at the moment, as far as that is known; of memories, it has the owners' alone.

    The role of the app needs the right to make temporary tables, which PostgreSQL gives to everybody.
    """
    within = connection.in_atomic_block
    with transaction.atomic():
        with connection.cursor() as cursor:
            if not within:
                cursor.execute(ONE_SNAPSHOT)
            cursor.execute(SET, [moment.isoformat(), f"{{{','.join(map(str, owners))}}}"])
            cursor.execute(LAY_MEMORIES)
            _find_words_again(cursor)
            cursor.execute(LAY_VIEWS)
            cursor.execute(ENTER)
        yield
        transaction.set_rollback(True)


def _find_words_again(cursor: CursorWrapper) -> None:
    """Memories that said something else then are found by what they said."""
    search = Memory._meta.get_field("search")  # noqa: SLF001 - Django's documented introspection
    assert isinstance(search, GeneratedField)  # noqa: S101
    expression, parameters = search.generated_sql(connection)
    cursor.execute(f"UPDATE memories SET search = {expression} WHERE reworded", parameters)  # noqa: S608 - a field's own
