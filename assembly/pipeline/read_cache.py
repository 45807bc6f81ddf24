"""The cache of source rows is validated by change counters; it lives in this process.

Why it is never stale. Rows are cached with the change counters of the agent, its team and the organisation that were
read in the same snapshot (see `assembly.records.change_counters`). Counters grow in the very commit that changes
something: so where a later statement finds the same counters, the rows are the same, and nothing else is read. That
statement has no deadline, because nobody locks counters against readers. The owners and the statements' parameters are
in the key by value. Rows read within a transaction are not cached, because the transaction may see rows that are never
committed. If a database is restored to an earlier state while this process runs, so that its counters reach the same
numbers again, stale rows end with their lifetime of five minutes.

Rows above the level that CACHE_SENSITIVITY permits are not cached, nor are others that were read with them. Conflicts
say nothing of their level, so they are cached only if all that the request may read is at most of this level.

A caller that records a context may leave the check of the counters to the statement that writes the record, and
assemble again if they have moved: that saves a round trip. It is done only for rows that were unchanged at their last
check, so that rows that change each time are not assembled twice each time.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

from cachetools.keys import hashkey

from assembly.engine.profile import Profile
from assembly.engine.types import candidate_text_bytes
from assembly.pipeline.read_plan import BatchedQuery, parse_preconditions
from assembly.pipeline.reconciliations import KnownConflict
from assembly.records.change_counters import NO_OWNERS, ChangeCounts, load_change_counts
from assembly.sources.base import SourceResult
from assembly.sources.readings import Readings, ReadWhen
from config.caching.process_cache import ProcessCache
from config.db.statements import Rows, Statement
from teams.sensitivity import Clearances, may_cache

LIFETIME_SECONDS = 300
MAX_BYTES = 24_000_000
ROW_BYTES = 2_500
"""Approximate bytes of memory of a row without its texts."""

Together = Callable[[Sequence[Statement]], Sequence[Rows]]
"""Reads statements in one snapshot, and returns the rows of each. Raises Django's database errors."""


@dataclass(slots=True)
class CachedRows:
    """Immutable values made of rows, and the change counters of the snapshot in which the rows were read."""

    changes: tuple[int, ...]
    found: Sequence[Any]
    size_bytes: int
    was_unchanged: bool = field(default=False, compare=False)
    """Whether the change counters were unchanged at the last check."""


class ReadRows(NamedTuple):
    """This is what each part made of its rows, the counters that remain to be checked, and when the rows were read."""

    found: Sequence[Any]
    counts: ChangeCounts
    when: ReadWhen = "now"


class RowCache:
    """The rows read within the last five minutes by their statements, shared by all threads.

    The least recently used rows are dropped to make space.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, timer: Callable[[], float] = monotonic) -> None:
        self._rows = ProcessCache[Hashable, CachedRows](
            "source_rows", max_bytes, attrgetter("size_bytes"), lifetime=lambda _: LIFETIME_SECONDS, timer=timer
        )

    def get(self, asked: Hashable) -> CachedRows | None:
        """Return the rows cached under this key; None without any."""
        return self._rows.get(asked)

    def keep(self, asked: Hashable, kept: CachedRows) -> None:
        """Cache rows under this key. Rows larger than the whole cache are not stored."""
        self._rows.put(asked, kept)

    def forget(self) -> None:
        """Remove all rows from the cache."""
        self._rows.clear()


row_cache = RowCache()


def read_with_cache(
    parts: Sequence[BatchedQuery],
    profile: Profile,
    owners: Sequence[UUID],
    read: Callable[[], tuple[Sequence[Rows], ReadWhen]],
    *,
    clearances: Clearances,
    trust_cache: bool = False,
) -> ReadRows:
    """Return what each part makes of its rows, all from one snapshot, and the counters that remain to be checked.

    The first part must read the preconditions. `read` returns the rows of all parts, and when they were read. If the
    owners' change counters are those of the cached rows, only the counters are read. With `trust_cache`, rows that were
    unchanged at their last check are returned without a check: the result is valid if the returned counters are still
    current. `clearances` are those of the statements. Raises Django's database errors.
    """
    sent = [part.statement for part in parts]
    asked = hashkey(profile.sections, *((one.sql, *one.parameters.values()) for one in sent))  # hashed once
    kept = row_cache.get(asked)
    if kept and kept.was_unchanged and trust_cache:
        return ReadRows(kept.found, ChangeCounts(tuple(owners), kept.changes), "earlier")
    if kept and kept.changes == load_change_counts(*owners):
        kept.was_unchanged = True
        return ReadRows(kept.found, NO_OWNERS, "earlier")
    rows, when = read()
    found = [part.made(mine) for part, mine in zip(parts, rows, strict=True)]
    if may_cache(clearances.highest) or all(map(_may_cache, found)):
        row_cache.keep(asked, CachedRows(found[0].changes, found, sum(map(_memory_bytes, rows))))
    return ReadRows(found, NO_OWNERS, when)


def read_without_cache(parts: Sequence[BatchedQuery], read: Callable[[], tuple[Sequence[Rows], ReadWhen]]) -> ReadRows:
    """Return what each part makes of its rows; `read` is that of `read_with_cache`. Nothing is cached."""
    rows, when = read()
    return ReadRows([part.made(mine) for part, mine in zip(parts, rows, strict=True)], NO_OWNERS, when)


def rows_with_readings(
    parts: Sequence[BatchedQuery], readings: Readings | None, together: Together, *, is_ahead: bool
) -> tuple[Sequence[Rows], ReadWhen]:
    """Return the rows of the parts, and when they were read; of readings, only the preconditions are read anew.

    With `is_ahead`, the readings are being made: the rows are kept in them. A batch without the preconditions is one of
    several of a snapshot, and is read anew.
    """
    first, *others = statements = [part.statement for part in parts]
    if readings is None or parts[0].made is not parse_preconditions:
        return together(statements), "now"
    if is_ahead:
        found = together(statements)
        readings.keep_rows(parse_preconditions(found[0]).changes, others, found[1:])
        return found, "now"
    known = readings.rows_of(others)
    if known is None:
        return together(statements), "now"
    (rows,) = together([first])
    if parse_preconditions(rows).changes == readings.changes:
        return [rows, *known], "ahead"
    return [rows, *together(others)], "now"


def _may_cache(found: Any) -> bool:
    """Return whether the level of what a part made of its rows permits to cache it."""
    if isinstance(found, SourceResult):
        return all(may_cache(one.sensitivity) for one in found.candidates)
    return not (isinstance(found, tuple) and found and isinstance(found[0], KnownConflict))


def _memory_bytes(rows: Rows) -> int:
    """Return the approximate bytes of memory of rows once they are candidates."""
    return sum(ROW_BYTES + sum(candidate_text_bytes(value) for value in row if isinstance(value, str)) for row in rows)
