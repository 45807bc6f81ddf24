"""What was read for assemblies lately, kept in this process: most of it has not changed when it is asked for again.

Why it is never stale. What is kept is kept with the counts of changes of the agent, its team and the organisation that
were read in the same snapshot (see `assembly.records.change_counters`). Counts grow in the very commit that changes
something: so where a later statement finds the same counts, there are the same rows, and nothing else is read. That
statement has no deadline: nobody locks counts against readers. Whose the rows are, and which of them are asked for, is
in the key by value. Nothing is kept that was read within a transaction, which may see what nobody else ever will.
Should a database be set back to an earlier state behind the back of this process, so that its counts reach the same
numbers again, it ends with the time.

Whoever records a context may leave it to the statement that writes the record to look at the counts, and assemble anew
where they are others: that spares a journey. It is done with what was unchanged when somebody looked last, so that what
changes each time is not assembled twice each time.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Lock
from time import monotonic
from typing import Any
from uuid import UUID

from cachetools import TTLCache
from cachetools.keys import hashkey

from assembly.engine.profile import Profile
from assembly.engine.types import candidate_text_bytes
from assembly.pipeline.read_plan import BatchedQuery
from assembly.records.change_counters import NO_OWNERS, ChangeCounts, load_change_counts
from assembly.sources.time_budget import StatementDeadline
from config.db.statements import Rows

LIFETIME_SECONDS = 300
MAX_BYTES = 24_000_000
ROW_BYTES = 2_500
"""Memory of a row beside its texts, roughly."""


@dataclass(slots=True)
class CachedRows:
    """What was made of rows: immutable values. `changes`: the counts in the snapshot in which they were read."""

    changes: tuple[int, ...]
    found: Sequence[Any]
    size_bytes: int
    was_unchanged: bool = field(default=False, compare=False)
    """Whether nothing had changed when somebody looked last."""


class RowCache:
    """What was read within five minutes by what was asked for, for all threads. What was not asked for longest makes
    room."""

    def __init__(self, max_bytes: int = MAX_BYTES, timer: Callable[[], float] = monotonic) -> None:
        self._rows: TTLCache[Hashable, CachedRows] = TTLCache(
            max_bytes, LIFETIME_SECONDS, timer, attrgetter("size_bytes")
        )
        self._lock = Lock()

    def get(self, asked: Hashable) -> CachedRows | None:
        """What was found when this was asked for last."""
        with self._lock:
            try:
                return self._rows[asked]  # `get` would compare the long key once more
            except KeyError:
                return None

    def keep(self, asked: Hashable, kept: CachedRows) -> None:
        """Store it for those who ask for the same. What is larger than the whole cache is not stored."""
        if kept.size_bytes <= self._rows.maxsize:
            with self._lock:
                self._rows[asked] = kept

    def forget(self) -> None:
        """Everything."""
        with self._lock:
            self._rows.clear()


row_cache = RowCache()


def read_with_cache(
    parts: Sequence[BatchedQuery],
    profile: Profile,
    owners: Sequence[UUID],
    statements: StatementDeadline,
    seconds: float,
    *,
    trust_cache: bool = False,
) -> tuple[Sequence[Any], ChangeCounts]:
    """What the parts make of their rows, the first of which is the opening, all as of one moment.

    Where nothing of the owners has changed since the same was read before, nothing else is read. Where it may be
    `trust_cache`, that may be for the caller to find out: it holds if the state is still there. Raises Django's errors,
    also where it takes more than so many seconds.
    """
    sent = [part.statement for part in parts]
    asked = hashkey(profile.sections, *((one.sql, *one.parameters.values()) for one in sent))  # hashed once
    kept = row_cache.get(asked)
    if kept and kept.was_unchanged and trust_cache:
        return kept.found, ChangeCounts(tuple(owners), kept.changes)
    if kept and kept.changes == load_change_counts(*owners):
        kept.was_unchanged = True
        return kept.found, NO_OWNERS
    rows = statements.together(sent, seconds)
    found = [part.made(mine) for part, mine in zip(parts, rows, strict=True)]
    row_cache.keep(asked, CachedRows(found[0].changes, found, sum(map(_memory_bytes, rows))))
    return found, NO_OWNERS


def _memory_bytes(rows: Rows) -> int:
    """Return about how much memory they take, once they are candidates."""
    return sum(ROW_BYTES + sum(candidate_text_bytes(value) for value in row if isinstance(value, str)) for row in rows)
