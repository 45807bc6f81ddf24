"""What searches of memories found is cached in this process, until a change counter moves.

It is the costly part of a context that does not depend on its moment: a search depends on the question, the day, and
the rows of the owners. Why it is never stale: the change counters of the agent, its team and the organisation were read
before the search, in the same snapshot or an earlier one; they grow in the very commit that changes something, and only
a search with the same counters uses the entry. What is read within a caller's transaction, which may see rows that are
never committed, is not cached, nor is a search that found a memory above the level that CACHE_SENSITIVITY permits.
"""

import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from assembly.sources.readings import Readings
from config.caching.process_cache import ProcessCache
from memories.search.memory_search import FoundMemory
from teams.sensitivity import may_cache

LIFETIME_SECONDS = 300
MAX_BYTES = 16_000_000
ROW_BYTES = 1_500
"""Approximate bytes of memory of a found memory without its text."""


@dataclass(slots=True)
class _FoundBefore:
    """What a search found, and the change counters that were read before it."""

    changes: tuple[int, ...]
    found: Sequence[FoundMemory]
    size_bytes: int


_found = ProcessCache[Hashable, _FoundBefore](
    "found_memories", MAX_BYTES, attrgetter("size_bytes"), lifetime=lambda _: LIFETIME_SECONDS
)


@dataclass(slots=True)
class SearchReuse:
    """The searches of one context: the change counters that were read before them, how many were made for it, and how
    many for earlier ones.

    `readings` are those that were made before the request came; with `is_ahead`, those that are being made for a
    request that is only expected: then nothing is cached here.
    """

    changes: tuple[int, ...]
    readings: Readings | None = None
    is_ahead: bool = False
    made_now: int = 0
    made_earlier: int = 0

    def found(self, asked: Hashable, search: Callable[[], Sequence[FoundMemory]]) -> Sequence[FoundMemory]:
        """Return what the search found before, or finds now; `asked` holds all that its result depends on, apart from
        rows.
        """
        if self.readings and self.is_ahead:
            found = tuple(search())
            self.readings.keep_search(asked, found)
            return found
        if known := _found.get(asked, lambda entry: entry.changes == self.changes):
            self.made_earlier += 1
            return known.found
        ahead = self.readings.found_by(asked) if self.readings and self.readings.changes == self.changes else None
        if ahead is None:
            self.made_now += 1
        found = tuple(search()) if ahead is None else tuple(ahead)
        if all(may_cache(memory.sensitivity) for memory in found):
            _found.put(asked, _FoundBefore(self.changes, found, _memory_bytes(found)))
        return found


def forget_searches() -> None:
    """Remove everything from the cache."""
    _found.clear()


def _memory_bytes(found: Sequence[FoundMemory]) -> int:
    return ROW_BYTES + sum(ROW_BYTES + sys.getsizeof(memory.text) for memory in found)
