"""A random sample of the many rows of one owner: how many they are, when they are from, and how many have a word.

It tells how much a word says, and which words are rare enough to look for; what is found is measured itself. So it may
be some minutes old, and each process keeps those of the owners that it searched last: the next search reads none.
"""

from dataclasses import dataclass
from threading import Lock
from uuid import UUID

import numpy as np
from cachetools import TTLCache
from numpy.typing import NDArray

from config.db.statements import Statement, run_statement
from memories.search.question import QueryTerms
from memories.search.row_format import OCCURRED, Columns

ROWS = 2_000
BYTES = 1_000_000
"""Of texts: of long ones, fewer are sampled."""
LAST, VALUES = "substring(uuid_send(id), 13)", 2**32
"""The sample has those rows whose ids have the least of so many values in their last four bytes, which are random."""
MOMENT = np.dtype([("at", ">i8")])
LIFETIME_SECONDS = 300
OWNERS = 100
"""The samples of so many are kept, each of 50 to 150 kB."""

# No word has a blank.
READ = """
SELECT string_agg(last, ''::bytea), string_agg(timestamptz_send(occurred), ''::bytea),
    string_agg(array_to_string(tsvector_to_array(search), ' '), ' '), avg(octets)::float8, 'memories'::regclass::oid,
    (SELECT reltuples FROM pg_class WHERE oid = 'memories'::regclass)
FROM (
    SELECT {last} AS last, {occurred} AS occurred, search, octet_length(text) AS octets,
        sum(octet_length(text)) OVER (ORDER BY {last} ROWS UNBOUNDED PRECEDING) AS bytes
    FROM memories WHERE {owner} = %(owner)s ORDER BY {last} LIMIT %(rows)s
) AS first WHERE bytes <= %(bytes)s
"""


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """What was true of the owner's rows in a `table`: that of the present has another number than one of the past."""

    table: int
    rows_in_table: float
    """About so many, whosever they are."""
    owned: float
    """About so many rows the owner has."""
    rows: Columns
    """Those of the sample, the oldest first: of each, when it is from is known."""
    words: NDArray[np.int64]
    """The hash of each word of theirs, the lowest first."""
    counts: NDArray[np.uint16]
    """How many of them have that word."""
    mean_bytes: float
    """The mean length of their texts."""

    def having(self, terms: QueryTerms) -> NDArray[np.float64]:
        """About how many of the owner's rows have each term: as many as have the rarest word of an entity's commonest
        name; of a word, its stems together, of which a text has that of its language.
        """
        by_name = [[min(map(self._count, name)) for name in names] for names in terms.names]
        words = len(terms.words)
        counted = [*map(sum, by_name[:words]), *map(max, by_name[words:])]
        return np.array(counted, dtype=float) * (self.owned / len(self.rows))

    def _count(self, word: str) -> int:
        place = int(np.searchsorted(self.words, hash(word)))
        known = place < len(self.words) and self.words[place] == hash(word)
        return int(self.counts[place]) if known else 0


_cache: TTLCache[UUID, OwnerSample] = TTLCache(OWNERS, LIFETIME_SECONDS)
_lock = Lock()


def cached_sample(owner: UUID) -> OwnerSample | None:
    """The sample of the owner's rows that was read last, if that was within the last minutes."""
    with _lock:
        return _cache.get(owner)


def read_sample(column: str, owner: UUID, table: int) -> OwnerSample:
    """A sample of the rows in this table of the owner whose id stands in that column; there are some."""
    sample = cached_sample(owner)
    if sample is None or sample.table != table:
        sample = _query_sample(column, owner)
        with _lock:
            _cache[owner] = sample
    return sample


def _query_sample(column: str, owner: UUID) -> OwnerSample:
    query = READ.format(last=LAST, occurred=OCCURRED, owner=column)
    parameters = {"owner": owner, "rows": ROWS, "bytes": BYTES}
    ((last, moments, texts, mean_bytes, table, rows_in_table),) = run_statement(
        Statement(query, parameters), binary=True
    )
    rows = np.sort(np.frombuffer(moments, dtype=MOMENT))
    words, counts = np.unique(np.fromiter(map(hash, texts.split()), dtype=np.int64), return_counts=True)
    highest = int(np.frombuffer(last, dtype=">u4").max())
    owned = max(len(rows), (len(rows) - 1) * VALUES / (highest or 1))
    return OwnerSample(table, rows_in_table, owned, rows, words, counts.astype(np.uint16), mean_bytes)
