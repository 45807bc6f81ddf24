"""Once a week, age thresholds follow what happened: where cold things are often woken, compressing was too early.

The factor of each content type is in the newest report. It ends when somebody saves a policy of the type.
"""

import datetime
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from config.db.statements import fetch_rows
from memories.lifecycle.kv_policies import REBALANCE, PolicyBook, last_report
from memories.lifecycle.kv_policy import CONTENT_TYPES, content_type_of
from memories.lifecycle.planned_moves import read_things
from memories.lifecycle.thing_tables import THING_TABLES

if TYPE_CHECKING:
    from memories.lifecycle.hourly_run import LifecycleRun

EVERY = datetime.timedelta(days=7)
OFTEN, RARELY = 0.1, 0.01
"""Shares of the cold things that were woken in this time."""
LATER, SOONER = 1.25, 0.8
LEAST_FACTOR, MOST_FACTOR = 0.25, 4.0
LEAST_THINGS = 100
"""The least number of cold things of a content type by which its factor is changed."""


def rebalance(run: "LifecycleRun") -> None:
    """Change the factor of each content type by what was woken in the last week, and report the factors."""
    before = last_report(REBALANCE)
    if before is not None and run.at - before.started < EVERY:
        return
    book, woken, cold = PolicyBook(), _woken(run.at.date() - EVERY), _cold()
    shares = {name: woken[name] / (woken[name] + cold[name]) for name in CONTENT_TYPES if woken[name] + cold[name]}
    if not shares:
        return
    factors = {
        name: next_factor(book.age_factor(name), share)
        for name, share in shares.items()
        if woken[name] + cold[name] >= LEAST_THINGS
    }
    kept = {name: factors.get(name, book.age_factor(name)) for name in CONTENT_TYPES}
    changed: Mapping[str, float] = {name: factor for name, factor in kept.items() if factor != 1}
    rounded = {name: round(share, 3) for name, share in shares.items()}
    run.report(REBALANCE, [], run.at, {"factors": changed, "woken": rounded})


def next_factor(factor: float, share: float) -> float:
    """Return the factor of age thresholds after a week in which this share of the cold things was woken."""
    step = LATER if share > OFTEN else SOONER if share < RARELY else 1.0
    return min(MOST_FACTOR, max(LEAST_FACTOR, factor * step))


WOKEN_SQL = "SELECT kind, array_agg(DISTINCT thing) FROM thing_uses WHERE day > %(since)s AND woken > 0 GROUP BY kind"
COLD_SQL = "SELECT {label}, count(*) FROM {table} AS thing WHERE thing.tier IN ('cold', 'frozen') GROUP BY 1"


def _woken(since: datetime.date) -> Counter[str]:
    """Return the numbers of things that were woken, by content type."""
    by_kind, found = dict(fetch_rows(WOKEN_SQL, {"since": since})), Counter[str]()
    for table in THING_TABLES:
        for page in read_things(table, "thing.id = ANY(%(ids)s::uuid[])", {"ids": by_kind.get(table.kind, [])}):
            found.update(thing.content_type for thing in page)
    return found


def _cold() -> Counter[str]:
    """Return the numbers of cold and frozen things, by content type."""
    found = Counter[str]()
    for table in THING_TABLES:
        for label, count in fetch_rows(COLD_SQL.format(label=table.label, table=table.name)):
            found[content_type_of(table.kind, label)] += count
    return found
