"""Search statements run with a timeout and with planner settings that each statement chooses."""

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
# The planner misjudges both plans, so each statement says which one it needs. Sorting all rows looks cheaper to it than
# the walk that soon fills a page; the walk looks cheaper than it is if the matching rows are far back.
PLAN_SETTINGS = """
SELECT set_config('enable_sort', %(at_once)s, true), set_config('enable_bitmapscan', %(at_once)s, true),
    set_config('enable_indexscan', %(in_order)s, true)
"""


class SearchTooBroad(DossierError):
    """The search was cancelled by its statement timeout (422)."""

    status = 422
    code = "query_too_broad"
    title = "Search timed out"


@contextmanager
def bounded_search() -> Iterator[None]:
    """Run the block's statements in a transaction with a timeout of 3 s and without sequential scans.

    Raises SearchTooBroad when a statement times out.
    """
    try:
        with transaction.atomic():
            execute_sql(LIMIT_SETTINGS, {"timeout": str(TIMEOUT_MS)})
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise SearchTooBroad("This search takes too long. Narrow the time, or choose an agent or a team.") from None
        raise


def use_ordered_plan() -> None:
    """Make later statements of this transaction read rows in order along an index, without sorting."""
    execute_sql(PLAN_SETTINGS, {"in_order": "on", "at_once": "off"})


def use_bitmap_plan() -> None:
    """Make later statements of this transaction combine indexes by bitmap scans and sort the rows."""
    execute_sql(PLAN_SETTINGS, {"in_order": "off", "at_once": "on"})
