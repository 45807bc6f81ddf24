"""This module reads a random sample of an owner's rows, to estimate their number, their times and their words.

The sample decides how much a word counts and which words are rare enough to search for; found rows are measured
themselves. Therefore it may be some minutes old, and each process caches the samples of recently searched owners.
"""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from config.caching.process_cache import ProcessCache
from config.db.statements import Statement, run_statement
from memories.lifecycle.tiered_text import octets_sql
from memories.lifecycle.tiers import IS_SEARCHED_SQL
from memories.search.owner_partition import within
from memories.search.question import QueryTerms
from memories.search.row_format import OCCURRED, Columns

ROWS = 2_000
BYTES = 1_000_000
"""The total length, in bytes, of the sampled texts; of long texts, fewer rows are sampled."""
LAST, VALUES = "substring(uuid_send(id), 13)", 2**32
"""The sample consists of the rows with the lowest last four bytes of their ids, which are random: 2**32 values."""
MOMENT = np.dtype([("at", ">i8")])
LIFETIME_SECONDS = 300
MAX_CACHE_BYTES = 15_000_000
"""The bytes of memory of the cached samples, 50 to 150 kB each."""
SAMPLE_BYTES = 1_000
"""Approximate bytes of memory of a sample without its arrays."""

# The words are joined by blanks, because no lexeme contains one.
ROWS_IN_TABLE = """(
    SELECT coalesce(sum(greatest(reltuples, 0)) FILTER (WHERE relispartition), max(reltuples))::float4 FROM pg_class
        WHERE oid = 'memories'::regclass
            OR oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'memories'::regclass))"""
UNKNOWN_ROWS = "'Infinity'::float4"
"""The catalogue of the coordinator does not count the rows of a distributed table; no owner has most of them."""
READ = """
SELECT string_agg(last, ''::bytea), string_agg(timestamptz_send(occurred), ''::bytea),
    string_agg(array_to_string(tsvector_to_array(search), ' '), ' '), avg(octets)::float8, 'memories'::regclass::oid,
    {rows_in_table}
FROM (
    SELECT {last} AS last, {occurred} AS occurred, search, {octets} AS octets,
        sum({octets}) OVER (ORDER BY {last} ROWS UNBOUNDED PRECEDING) AS bytes
    FROM memories WHERE {owner} = %(owner)s{within} AND sensitivity <= %(clearance)s
        AND {searched} ORDER BY {last} LIMIT %(rows)s
) AS first WHERE bytes <= %(bytes)s
"""


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """Statistics of an owner's rows, estimated from a random sample.

    `table` is the oid of the table `memories`; a copy of the table as it was in the past has another oid.
    """

    table: int
    rows_in_table: float
    """The estimated number of rows of all owners in the table."""
    owned: float
    """The estimated number of the owner's rows."""
    rows: Columns
    """The sampled rows, the oldest first; only `at` is known of them."""
    words: NDArray[np.int64]
    """The hashes of the words of the sampled rows, in ascending order."""
    counts: NDArray[np.uint16]
    """The number of sampled rows with each word."""
    mean_bytes: float
    """The mean length of the owner's texts, in bytes."""

    def having(self, terms: QueryTerms) -> NDArray[np.float64]:
        """Return the estimated number of the owner's rows that have each term.

        For a word, it is the sum over its stems, of which a text has the one of its language. For an entity, it is the
        count of its most frequent name; the rarest word of a name counts.
        """
        by_name = [[min(map(self._count, name)) for name in names] for names in terms.names]
        words = len(terms.words)
        counted = [*map(sum, by_name[:words]), *map(max, by_name[words:])]
        return np.array(counted, dtype=float) * (self.owned / len(self.rows))

    def _count(self, word: str) -> int:
        place = int(np.searchsorted(self.words, hash(word)))
        known = place < len(self.words) and self.words[place] == hash(word)
        return int(self.counts[place]) if known else 0


def _memory_bytes(sample: OwnerSample) -> int:
    return SAMPLE_BYTES + sample.rows.nbytes + sample.words.nbytes + sample.counts.nbytes


_cache = ProcessCache[tuple[UUID, int], OwnerSample](
    "samples", MAX_CACHE_BYTES, _memory_bytes, lifetime=lambda _: LIFETIME_SECONDS
)


def cached_sample(owner: UUID, clearance: int) -> OwnerSample | None:
    """Return the cached sample of the owner's rows up to this clearance; None where there is none from the last
    minutes.
    """
    return _cache.get((owner, clearance))


def read_sample(column: str, owner: UUID, table: int, clearance: int) -> OwnerSample:
    """Return a sample of the owner's rows up to this clearance in the table with this oid, from the cache if possible.

    `column` is the column that holds the owner's id. The owner must have at least one row.
    """
    sample = cached_sample(owner, clearance)
    if sample is None or sample.table != table:
        sample = _query_sample(column, owner, clearance)
        _cache.put((owner, clearance), sample)
    return sample


def _query_sample(column: str, owner: UUID, clearance: int) -> OwnerSample:
    query = READ.format(
        last=LAST, occurred=OCCURRED, owner=column, octets=octets_sql("memories"), searched=IS_SEARCHED_SQL,
        rows_in_table=UNKNOWN_ROWS if settings.DATABASE_DISTRIBUTED else ROWS_IN_TABLE, **within(),
    )  # fmt: skip
    parameters = {"owner": owner, "clearance": clearance, "rows": ROWS, "bytes": BYTES}
    ((last, moments, texts, mean_bytes, table, rows_in_table),) = run_statement(
        Statement(query, parameters), binary=True
    )
    rows = np.sort(np.frombuffer(moments, dtype=MOMENT))
    words, counts = np.unique(np.fromiter(map(hash, texts.split()), dtype=np.int64), return_counts=True)
    highest = int(np.frombuffer(last, dtype=">u4").max())
    owned = max(len(rows), (len(rows) - 1) * VALUES / (highest or 1))
    return OwnerSample(table, rows_in_table, owned, rows, words, counts.astype(np.uint16), mean_bytes)
