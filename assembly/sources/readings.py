"""Readings are what the statements and searches of one context returned, by a hash of what was asked.

A context that is only expected is read before anybody asks for it, and its readings are kept until somebody does. Why
they are never stale: they hold for the change counters of the agent, its team and the organisation that were read in
the same snapshot as the rows, and before the searches. Counters grow in the very commit that changes something. So
where a later snapshot has the same counters, the same statement with the same parameters returns the same rows. Whoever
uses readings compares the counters of the present snapshot first.
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from config.db.statements import Rows, Statement
from memories.search.memory_search import FoundMemory

ReadWhen = Literal["now", "ahead", "earlier"]
"""When what a request needs was read: for it, before it because it was expected, or for an earlier request."""


@dataclass(slots=True)
class Readings:
    """The rows of statements and the memories that searches found, and the change counters for which they hold."""

    changes: tuple[int, ...] = ()
    rows: dict[bytes, Rows] = field(default_factory=dict)
    searches: dict[bytes, Sequence[FoundMemory]] = field(default_factory=dict)

    def keep_rows(self, changes: Sequence[int], statements: Sequence[Statement], rows: Sequence[Rows]) -> None:
        """Keep the rows of the statements, which were read in the snapshot that has these change counters, and nothing
        that was read before.
        """
        self.changes, self.searches = tuple(changes), {}
        self.rows = {statement_hash(one): found for one, found in zip(statements, rows, strict=True)}

    def rows_of(self, statements: Sequence[Statement]) -> list[Rows] | None:
        """Return the rows of each statement; None if those of any are not known."""
        found = [self.rows.get(statement_hash(one)) for one in statements]
        return None if any(rows is None for rows in found) else [rows for rows in found if rows is not None]

    def keep_search(self, asked: Hashable, found: Sequence[FoundMemory]) -> None:
        """Keep what a search found after the rows were read; `asked` is all that the search depends on apart from
        rows.
        """
        self.searches[_hash_of(asked)] = found

    def found_by(self, asked: Hashable) -> Sequence[FoundMemory] | None:
        """Return what the search found; None if it was not made."""
        return self.searches.get(_hash_of(asked))


def statement_hash(statement: Statement) -> bytes:
    """Return a hash of the statement and its parameters, by value."""
    return _hash_of((statement.sql, sorted(statement.parameters.items())))


def _hash_of(asked: object) -> bytes:
    return hashlib.sha256(repr(asked).encode(errors="surrogatepass")).digest()
