"""This module computes the features of rows for a question, and scores rows by the weighted sum of their features.

Features are comparable between questions and owners. Similarity and word matches are standard scores (z): by how many
standard deviations a row lies above the mean of the owner's rows, because a cosine of .4 is high among long texts and
low among short ones. Rows next to each other on one day are neighbours, whose texts tell what a row is about. The
weights depend on how brief an owner's texts are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.search.day_windows import date_of, day_nearness, is_on_named_day
from memories.search.question import SearchQuestion
from memories.search.row_format import ASKS, LABELLED, SAYS_A_TIME, Columns
from memories.search.term_statistics import Distribution, TermStatistics, term_matrix, terms_of

DECIMALS = 4
"""The decimals of features: enough to tell rows apart, and few enough to be read."""


BREVITY = "brevity"
"""The feature that blends the two columns of weights; all rows of an owner have the same value."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of features in two columns: one for owners of long texts, one for owners of brief texts.

    Short turns of a conversation and whole pages differ in what tells that a text is relevant. A feature that `brief`
    does not name has no weight for brief texts; without `brief`, `long` applies to all texts.
    """

    long: Mapping[str, float]
    brief: Mapping[str, float] | None = None

    def at(self, brevity: float) -> Mapping[str, float]:
        """Return the weights for an owner whose texts have this brevity, 0 to 1."""
        if self.brief is None:
            return self.long
        names = dict.fromkeys((*self.long, *self.brief))
        return {name: (1 - brevity) * self.long.get(name, 0.0) + brevity * self.brief.get(name, 0.0) for name in names}


def scores_of(measured: Mapping[str, NDArray[np.float64]], weights: Weights) -> NDArray[np.float64]:
    """Return the sum of weight times feature per row; features without a weight are ignored."""
    scores = np.zeros(len(measured[BREVITY]))
    if not len(scores):
        return scores
    by_name = weights.at(float(measured[BREVITY][0]))
    for name, values in measured.items():
        scores += by_name.get(name, 0.0) * values
    return scores


Numbers = NDArray[np.float64]
Values = TypeVar("Values", Numbers, NDArray[np.int64])


class Neighbours:
    """The days of rows in order of time, for combining the values of neighbouring rows; arrays have a value per row."""

    def __init__(self, rows: Columns) -> None:
        date = date_of(rows)
        self._continues = np.zeros(len(rows), dtype=bool)
        self._continues[1:] = date[1:] == date[:-1]
        self._starts = np.flatnonzero(~self._continues)
        self._counts = np.diff(self._starts, append=len(rows))

    def previous(self, values: Values) -> Values:
        """Return each row's value of the row before; 0 where that is of another day."""
        before = np.zeros_like(values)
        before[1:] = values[:-1] * self._continues[1:]
        return before

    def next(self, values: Values) -> Values:
        """Return each row's value of the row after; 0 where that is of another day."""
        after = np.zeros_like(values)
        after[:-1] = values[1:] * self._continues[1:]
        return after

    def around(self, values: Numbers) -> Numbers:
        """Return for each row the sum of its value and those of the rows before and after."""
        around: Numbers = values + self.previous(values) + self.next(values)
        return around

    def per_day(self, join: np.ufunc, values: Values) -> Values:
        """Return a value per day: the values of its rows, in the last axis, combined by the ufunc `join`."""
        joined: Values = join.reduceat(values, self._starts, axis=-1) if len(self._starts) else values
        return joined

    def spread(self, per_day: Numbers) -> Numbers:
        """Return a value per row: that of its day."""
        spread: Numbers = np.repeat(per_day, self._counts)
        return spread


Terms = NDArray[np.int64]

MIDDLING_BYTES, STEEPNESS = 300.0, 3
"""The mean length, in bytes, of texts at which brevity is 0.5, and how steeply it falls.

Turns of talk have 140 bytes, messages 2,000.
"""
SATURATION, LENGTH_SHARE = 1.2, 0.75
"""The parameters k1 and b of BM25 (Robertson), as most search engines set them."""
SMOOTHING_BYTES = 20.0
SHORTEST, LONGEST = -3.0, 2.0
"""The limits of the logarithm of a text's length over the mean, beyond which longer or shorter makes no difference."""
ROWS_AROUND, ROWS_A_DAY = 3, 25
"""The numbers of average rows at whose length a row with its neighbours, or a day, counts as of mean length."""
TERMS_A_BYTE = 8
ANY_BYTE = np.arange(256)
KINSHIP = 0.35
"""The mean cosine of consecutive texts, measured on long conversations; it replaces comparing their vectors."""


def features(rows: Columns, question: SearchQuestion, rarity: TermStatistics) -> dict[str, Numbers]:
    """Return the features of rows in order of time: by name, an array with a value per row.

    Features that end in `_z` are standard scores. `words` is the share of the question's weight of words that the row
    has, `relative_length` the logarithm of the length over the mean of the owner's texts. All others are 0 to 1;
    `brevity` is a property of the owner.
    """
    neighbours = Neighbours(rows)
    meaning = rarity.similarity
    similarity = rows["similarity"].astype(float)
    similarity[np.isnan(similarity)] = meaning.mean  # an unknown similarity counts as average
    of_day = neighbours.spread(neighbours.per_day(np.maximum, similarity))
    found = terms_of(rows)
    match = _WordMatch(found, rows["length"].astype(float), rarity, neighbours)
    asks = _mark_values(found, ASKS)
    return {
        "similarity_z": meaning.standard_score(similarity),
        "similarity_with_previous_z": meaning.standard_score(_joined_similarity(rows, similarity, neighbours)),
        "similarity_of_day_z": meaning.standard_score(of_day),
        "words": match.share,
        "words_z": match.spread.standard_score(match.own),
        "words_around_z": match.spread.standard_score(match.around),
        "words_of_day_z": match.spread.standard_score(match.of_day),
        "labelled": _mark_values(found, LABELLED),
        "date": is_on_named_day(rows, question) * (1 - rarity.dated),
        "near_date": day_nearness(rows, question),
        "time_said": _mark_values(found, SAYS_A_TIME) * rarity.time_tells,
        "relative_length": _relative_length(rows, rarity.mean_bytes),
        "asks": asks,
        "after_question": neighbours.previous(asks),
        "salience": rows["salience"].astype(float),
        "credibility": rows["credibility"].astype(float),
        BREVITY: np.full(len(rows), brevity_of(rarity.mean_bytes)),
    }


def brevity_of(mean_bytes: float) -> float:
    """Return the brevity of an owner's texts by their mean length: near 1 for short turns, near 0 for whole pages."""
    return 1 / (1 + (mean_bytes / MIDDLING_BYTES) ** STEEPNESS)


class _WordMatch:
    """BM25 scores of rows, of rows with their neighbours, and of days, for the words of a question.

    Within a row each word counts once. `share` is the share of the question's weight of words that the row has,
    whatever its length, 0 to 1. `spread` is the distribution of scores that is expected by chance, from the share of
    the owner's rows that have each word.
    """

    def __init__(self, found: Terms, length: Numbers, rarity: TermStatistics, neighbours: Neighbours) -> None:
        idf = rarity.idf
        self._weights = idf / (float(idf.sum()) or 1.0)
        eights = [self._weights[start : start + TERMS_A_BYTE] for start in range(0, len(idf), TERMS_A_BYTE)]
        self._of_byte = [term_matrix(ANY_BYTE, len(eight)).astype(float) @ eight for eight in eights]
        """Lookup tables for eight terms each: the total weight of the terms whose bits are set in a byte."""
        self.spread = Distribution(
            float(self._weights @ rarity.chance),
            math.sqrt(float(self._weights**2 @ (rarity.chance * (1 - rarity.chance)))),
        )
        mean = rarity.mean_bytes or 1.0
        self.share = self._weight_of(found)
        self.own = self.share * _bm25_factor(1, length / mean)
        self.around = self._match_around(found, neighbours.around(length) / (mean * ROWS_AROUND), neighbours)
        days = neighbours.per_day(np.add, length) / (mean * ROWS_A_DAY)
        self.of_day = neighbours.spread(self._match_of_days(found, days, neighbours))

    def _weight_of(self, found: Terms) -> Numbers:
        """Return for each row the total weight of the terms that it has."""
        in_bytes = found.astype("<i8").view(np.uint8).reshape(-1, found.itemsize)
        weight = np.zeros(len(found))
        for place, of_byte in enumerate(self._of_byte):
            weight += of_byte[in_bytes[:, place]]
        return weight

    def _match_around(self, found: Terms, relative_length: Numbers, neighbours: Neighbours) -> Numbers:
        before, after = neighbours.previous(found), neighbours.next(found)
        some, thrice = found ^ before ^ after, found & before & after
        twice = ((found & before) | (found & after) | (before & after)) & ~thrice
        by_count = enumerate((some & ~thrice, twice, thrice), 1)
        return sum(
            (self._weight_of(words) * _bm25_factor(count, relative_length) for count, words in by_count), np.zeros(1)
        )

    def _match_of_days(self, found: Terms, relative_length: Numbers, neighbours: Neighbours) -> Numbers:
        """Return the BM25 score of each day."""
        matches = np.zeros(len(relative_length))
        places = np.arange(len(self._weights))[:, None]
        factors = _bm25_factor(neighbours.per_day(np.add, found >> places & 1), relative_length)
        for weight, factor in zip(self._weights, factors, strict=True):  # in this order, on which the sums depend
            matches += weight * factor
        return matches


def _bm25_factor(count: Numbers | Terms | int, relative_length: Numbers) -> Numbers:
    """Return BM25's factor for a word that occurs `count` times in a text of this length relative to the mean."""
    saturation = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length)
    matches: Numbers = count * (SATURATION + 1) / (count + saturation)
    return matches


def _relative_length(rows: Columns, mean_bytes: float) -> Numbers:
    length = rows["length"].astype(float) + SMOOTHING_BYTES
    return np.clip(np.log(length / (mean_bytes + SMOOTHING_BYTES)), SHORTEST, LONGEST)


def _mark_values(found: Terms, mark: int) -> Numbers:
    return ((found & mark) > 0).astype(float)


def _joined_similarity(rows: Columns, similarity: Numbers, neighbours: Neighbours) -> Numbers:
    """Return an estimate of the cosine of each row's text joined with that of the row before.

    The vector of the joined text is taken as the sum of the two vectors, each as long as the square root of its text.
    """
    length = np.sqrt(rows["length"].astype(float))
    before = neighbours.previous(length)
    sum_length = np.sqrt(length**2 + before**2 + 2 * KINSHIP * length * before)
    joined: Numbers = length * similarity + before * neighbours.previous(similarity)
    joined /= np.where(sum_length > 0, sum_length, 1.0)
    return joined
