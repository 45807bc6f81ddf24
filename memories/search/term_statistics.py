"""This module estimates how much each word, date and similarity counts, by how few of an owner's rows match.

For an owner with many rows, a random sample estimates the number of rows, the frequency of frequent words, and the
distribution of similarities. All rows with a rare word are read anyway, so rare words are counted exactly.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memories.search.day_windows import is_on_named_day
from memories.search.owner_sample import OwnerSample
from memories.search.row_format import SAYS_A_TIME, Columns, OwnerSearch

USUAL_DEVIATION = 0.1
"""The usual standard deviation of the cosines of an owner's texts to a question: .08 to .13, by kind of text."""
PRIOR_WEIGHT = 10
"""The number of rows that the usual deviation counts as, because few rows say little about the deviation."""
FEW_SAY = math.exp(-2)
"""The share of rows that say a time below which saying a time counts fully."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The mean and standard deviation of a number among all rows of an owner."""

    mean: float
    deviation: float

    def standard_score(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how many deviations each value lies above the mean; 0 for all if the deviation is 0."""
        if not self.deviation:
            return np.zeros(len(values))
        scores: NDArray[np.float64] = (values - self.mean) / self.deviation
        return scores


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Statistics of all rows of an owner: `rows` is their number, `having` the number of rows that have each term."""

    rows: float
    having: NDArray[np.float64]
    dated: float
    """The share of the rows that are on a day that the question names."""
    mean_bytes: float
    """The mean length of the texts, in bytes."""
    similarity: Distribution = Distribution(0.0, USUAL_DEVIATION)
    """The distribution of the rows' cosines to the question."""
    timed: float = 0.0
    """The share of the rows that say a time, where the question asks for one."""

    @property
    def chance(self) -> NDArray[np.float64]:
        """The share of the rows that has each term, smoothed, so that it is never 0 and never 1."""
        chance: NDArray[np.float64] = (np.minimum(self.having, self.rows) + 0.5) / (self.rows + 1)
        return chance

    @property
    def idf(self) -> NDArray[np.float64]:
        """The inverse document frequency of each term, as BM25 computes it (Robertson and Spärck Jones)."""
        having = np.minimum(self.having, self.rows)
        inverse: NDArray[np.float64] = np.log(1 + (self.rows - having + 0.5) / (having + 0.5))
        return inverse

    @property
    def time_tells(self) -> float:
        """How much it counts that a row says a time, 0 to 1: less for an owner of whose rows many say one."""
        return math.log(max(self.timed, FEW_SAY)) / math.log(FEW_SAY)

    def rarest(self, most: int) -> NDArray[np.intp]:
        """Return the indexes of the rarest terms that together at most `most` rows have, the rarest first."""
        rarest = np.argsort(self.having, kind="stable")
        return rarest[np.cumsum(self.having[rarest]) <= most]

    def counted(self, hits: Columns, places: NDArray[np.intp]) -> "TermStatistics":
        """Return the statistics with exact counts of the terms at these indexes; `hits` has all rows with the terms."""
        having, terms = self.having.copy(), terms_of(hits)
        having[places] = [np.count_nonzero(terms & (1 << place)) for place in places.tolist()]
        return replace(self, having=having)

    def compared(self, rows: Columns) -> "TermStatistics":
        """Return the statistics with the distribution of similarities, and the share that says a time, of these rows.

        The rows must be all rows of the owner, or a random sample.
        """
        similarity = rows["similarity"].astype(float)
        known = similarity[~np.isnan(similarity)]
        mean = float(known.mean()) if len(known) else 0.0
        squares = float(((known - mean) ** 2).sum()) + PRIOR_WEIGHT * USUAL_DEVIATION**2
        timed = (np.count_nonzero(terms_of(rows) & SAYS_A_TIME) + 0.5) / (len(rows) + 1)
        return replace(
            self, similarity=Distribution(mean, math.sqrt(squares / (len(known) + PRIOR_WEIGHT))), timed=timed
        )


def terms_of(rows: Columns) -> NDArray[np.int64]:
    """Return the marks of each row as integers: a bit for each term that the row has, and other marks above these."""
    terms: NDArray[np.int64] = rows["marks"].astype(np.int64)
    return terms


def term_matrix(terms: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """Return a matrix of a line per row and a column per term: 1 where the row has the term, else 0."""
    in_bytes = terms.astype("<i8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(in_bytes, axis=1, count=count, bitorder="little")


def exact_statistics(rows: Columns, search: OwnerSearch) -> TermStatistics:
    """Return the statistics of an owner all of whose rows are given."""
    dated = float(is_on_named_day(rows, search.question).mean()) if len(rows) else 0.0
    mean_bytes = float(rows["length"].mean()) if len(rows) else 0.0
    return TermStatistics(len(rows), _rows_per_term(rows, len(search.terms.all)), dated, mean_bytes).compared(rows)


def sampled_statistics(sample: OwnerSample, search: OwnerSearch) -> TermStatistics:
    """Return estimated statistics of an owner's rows, from a random sample."""
    dated = float(is_on_named_day(sample.rows, search.question).mean())
    return TermStatistics(sample.owned, sample.having(search.terms), dated, sample.mean_bytes)


def _rows_per_term(rows: Columns, count: int) -> NDArray[np.float64]:
    having: NDArray[np.float64] = term_matrix(terms_of(rows), count).sum(axis=0, dtype=float)
    return having
