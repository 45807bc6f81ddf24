"""Asking the database: planned anew for each question, for what is common in one is rare in the next."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from config.db.statements import execute_sql
from config.http.errors import DossierError

TIMEOUT_MS = 3_000
LIMIT_SETTINGS = """
SELECT set_config('statement_timeout', %(timeout)s, true), set_config('enable_seqscan', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true),
    set_config('work_mem', '32MB', true)
"""
# A page needs few of the rows that the planner counts on, so sorting all of them looks cheaper to it than it is; and
# walking along looks cheaper to it than it is where they are far back.
PLAN_SETTINGS = """
SELECT set_config('enable_sort', %(at_once)s, true), set_config('enable_bitmapscan', %(at_once)s, true),
    set_config('enable_indexscan', %(in_order)s, true)
"""


class SearchTooBroad(DossierError):
    """The search did not end in time."""

    status = 422
    code = "too_broad"
    title = "This search takes too long"


@contextmanager
def bounded_search() -> Iterator[None]:
    """Statements that end in time, and read no table from its beginning to its end. Raises TooBroad."""
    try:
        with transaction.atomic():
            execute_sql(LIMIT_SETTINGS, {"timeout": str(TIMEOUT_MS)})
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise SearchTooBroad("This search takes too long. Narrow the time, or choose an agent or a team.") from None
        raise


def use_ordered_plan() -> None:
    """From here on, rows are read along the indexes that have them in the order of the list."""
    execute_sql(PLAN_SETTINGS, {"in_order": "on", "at_once": "off"})


def use_bitmap_plan() -> None:
    """From here on, all rows that indexes find together are read, and sorted."""
    execute_sql(PLAN_SETTINGS, {"in_order": "off", "at_once": "on"})
