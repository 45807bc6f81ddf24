"""How much the words, dates and meaning of a question tell, by how few of an owner's rows they speak for.

Of an owner with many rows, a random sample says how many they are, how many have a frequent word, and how near they
are to the question. Those that have a rare word are all looked at anyway, so that they are counted.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memories.search.day_windows import is_on_named_day
from memories.search.owner_sample import OwnerSample
from memories.search.row_format import SAYS_A_TIME, Columns, OwnerSearch

USUAL_DEVIATION = 0.1
"""Of the cosines of an owner's texts to a question: .08 to .13, by kind of text."""
PRIOR_WEIGHT = 10
"""The usual deviation counts as much as so many rows: two rows tell little of how far apart rows are."""
FEW_SAY = math.exp(-2)
"""Where no larger share of the rows says a time, to say one tells as much as it can."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Mean and standard deviation of a number, among all rows of an owner."""

    mean: float
    deviation: float

    def standard_score(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how many deviations each value lies above the mean; 0 where there are none."""
        if not self.deviation:
            return np.zeros(len(values))
        scores: NDArray[np.float64] = (values - self.mean) / self.deviation
        return scores


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Among all rows of an owner: `rows` is how many they are, `having` how many have each term."""

    rows: float
    having: NDArray[np.float64]
    dated: float
    """The share of them that is of a day that the question names."""
    mean_bytes: float
    """The mean length of their texts."""
    similarity: Distribution = Distribution(0.0, USUAL_DEVIATION)
    """Of their cosines to the question."""
    timed: float = 0.0
    """The share of them that says a time, where the question asks for one."""

    @property
    def chance(self) -> NDArray[np.float64]:
        """The share of the rows that has each term; never none and never all, as the next row may differ."""
        chance: NDArray[np.float64] = (np.minimum(self.having, self.rows) + 0.5) / (self.rows + 1)
        return chance

    @property
    def idf(self) -> NDArray[np.float64]:
        """How much each term tells: the idf of BM25 (Robertson and Spärck Jones)."""
        having = np.minimum(self.having, self.rows)
        inverse: NDArray[np.float64] = np.log(1 + (self.rows - having + 0.5) / (having + 0.5))
        return inverse

    @property
    def time_tells(self) -> float:
        """How much it tells that a row says a time, 0 to 1: of those who often say one, a row owes little to that."""
        return math.log(max(self.timed, FEW_SAY)) / math.log(FEW_SAY)

    def rarest(self, most: int) -> NDArray[np.intp]:
        """The places of the terms that no more than so many rows have together, the rarest first."""
        rarest = np.argsort(self.having, kind="stable")
        return rarest[np.cumsum(self.having[rarest]) <= most]

    def counted(self, hits: Columns, places: NDArray[np.intp]) -> "TermStatistics":
        """With what is true of the terms at these places, where the hits have all rows that have one of them."""
        having, terms = self.having.copy(), terms_of(hits)
        having[places] = [np.count_nonzero(terms & (1 << place)) for place in places.tolist()]
        return replace(self, having=having)

    def compared(self, rows: Columns) -> "TermStatistics":
        """With how near these rows are to the question, and how many say a time: these are all rows, or some that
        chance chose.
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
    """A bit for each term that the row has, and others above them."""
    terms: NDArray[np.int64] = rows["marks"].astype(np.int64)
    return terms


def term_matrix(terms: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """1 where a row has a term, else 0: a line per row, with so many terms."""
    in_bytes = terms.astype("<i8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(in_bytes, axis=1, count=count, bitorder="little")


def exact_statistics(rows: Columns, search: OwnerSearch) -> TermStatistics:
    """As all the owner's rows tell."""
    dated = float(is_on_named_day(rows, search.question).mean()) if len(rows) else 0.0
    mean_bytes = float(rows["length"].mean()) if len(rows) else 0.0
    return TermStatistics(len(rows), _rows_per_term(rows, len(search.terms.all)), dated, mean_bytes).compared(rows)


def sampled_statistics(sample: OwnerSample, search: OwnerSearch) -> TermStatistics:
    """About, as a sample of them tells."""
    dated = float(is_on_named_day(sample.rows, search.question).mean())
    return TermStatistics(sample.owned, sample.having(search.terms), dated, sample.mean_bytes)


def _rows_per_term(rows: Columns, count: int) -> NDArray[np.float64]:
    having: NDArray[np.float64] = term_matrix(terms_of(rows), count).sum(axis=0, dtype=float)
    return having
