"""When hot things are looked at again: the table `tier_checks` has the moment at which the next change may be due.

The hourly run reads what is due there, by an index, instead of whole tables. A row too many is harmless: what is not
hot is taken off the list where it is due. A missing one is made by the daily run that looks at everything.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping
from uuid import UUID

from config.db.statements import execute_sql, fetch_rows

PAGE_ROWS = 1_000
FIRST = UUID(int=0)
LONG_AGO = datetime.datetime(1, 1, 2, tzinfo=datetime.UTC)

# In one order for everybody, so that two who store at once cannot wait for each other in a circle.
STORE_SQL = """
INSERT INTO tier_checks (thing, of_table, due)
SELECT thing, %(table)s, due FROM unnest(%(things)s::uuid[], %(dues)s::timestamptz[]) AS row (thing, due) ORDER BY thing
ON CONFLICT (thing) DO UPDATE SET due = excluded.due WHERE tier_checks.due <> excluded.due
"""
FORGET_SQL = "DELETE FROM tier_checks WHERE thing = ANY(%(things)s::uuid[])"
DUE_SQL = """
SELECT due, thing FROM tier_checks
WHERE of_table = %(table)s AND due <= %(now)s AND (due, thing) > (%(due)s::timestamptz, %(thing)s::uuid)
ORDER BY due, thing LIMIT %(limit)s
"""
IS_LISTED = "EXISTS (SELECT FROM tier_checks WHERE tier_checks.thing = thing.id)"
"""SQL condition that a row `thing` is on the list."""


def look_again(table: str, dues: Mapping[UUID, datetime.datetime]) -> None:
    """Note when these things of the table are to be looked at, instead of what was noted before."""
    if dues:
        execute_sql(STORE_SQL, {"table": table, "things": list(dues), "dues": list(dues.values())})


def forget_checks(things: Collection[UUID]) -> None:
    """Take these things off the list."""
    if things:
        execute_sql(FORGET_SQL, {"things": list(things)})


def note_moved(table: str, moved: Collection[UUID], hot_since: datetime.datetime | None) -> None:
    """Note that things of the table became hot at this time, or, if it is None, are not hot any more."""
    if hot_since:
        look_again(table, dict.fromkeys(moved, hot_since))
    else:
        forget_checks(moved)


def due_checks(table: str, now: datetime.datetime) -> Iterator[list[UUID]]:
    """Yield the ids of the table's things that are due, those that are due for the longest time first, page by page."""
    last = (LONG_AGO, FIRST)
    while True:
        at = {"due": last[0], "thing": last[1]}
        rows = fetch_rows(DUE_SQL, {"table": table, "now": now, "limit": PAGE_ROWS, **at})
        if rows:
            yield [thing for _, thing in rows]
        if len(rows) < PAGE_ROWS:
            return
        last = rows[-1]
