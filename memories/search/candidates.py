"""This module selects the rows of an owner to score: all of an owner with few rows, candidates of one with many."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.search.candidate_sql import CandidateQuery, add_neighbours
from memories.search.day_windows import best_of_windows, promising_windows
from memories.search.features import Weights, features, scores_of
from memories.search.owner_sample import VALUES, OwnerSample
from memories.search.row_format import PINNED, Columns, OwnerSearch, copy_marks
from memories.search.term_statistics import TermStatistics, exact_statistics, sampled_statistics

EXACT_ROWS = 2_000
"""All rows of an owner with at most this many are searched."""
MAX_NEIGHBOURHOODS = 12
"""The vector index takes as long per visited row of the table as a scan takes for this many rows of the owner."""
NEWEST = 50
RANDOM = 300
"""The number of random rows, from which the distribution of similarities to the question is estimated."""
WORDED_SAMPLE_ROWS = 10_000
BEHIND = 2.3
"""Margin in score (log odds): the window of rows around a hit that scores this much below the cut-off is still
expanded.

The score of a hit alone does not tell how well its neighbours match.
"""
LARGE_SHARE = 0.1
"""The share of the table above which nearly all rows that are found by their words alone belong to the owner."""


@dataclass(frozen=True, slots=True)
class SearchReach:
    """How many rows a search reads as candidates among an owner's many rows, by each criterion."""

    worded: int
    """The rarest terms are searched while they select at most this many rows together, as the sample estimates."""
    max_term_match_rows: int
    """The upper limit of `worded`, which grows in proportion to the owner's rows beyond 10,000."""
    nearest: int
    """The number of rows nearest in meaning; twice the number of requested rows where that is more."""

    def among(self, rows: float) -> int:
        """Return how many rows the rarest terms may select together, for an owner with this many rows."""
        return round(min(self.max_term_match_rows, self.worded * max(1.0, rows / WORDED_SAMPLE_ROWS)))


# The answer to a question for a time is often a row that says a time, while another row of the day has the words.
# Recall varies by .01 with the random sample, so new values have to be tried with several samples.
REACH = SearchReach(worded=2_000, max_term_match_rows=3_000, nearest=75)
REACH_OF_WHEN_QUESTIONS = SearchReach(worded=4_000, max_term_match_rows=7_000, nearest=150)


def all_rows(search: OwnerSearch, most: int) -> tuple[Columns, TermStatistics]:
    """Return all rows of an owner that has at most `most`, in order of time, with exact statistics of the terms."""
    rows = search.newest(most)
    return rows, exact_statistics(rows, search)


def candidate_rows(
    search: OwnerSearch, weights: Weights, least: int, sample: OwnerSample
) -> tuple[Columns, TermStatistics]:
    """Return the candidate rows of an owner with many rows, in order of time, and the statistics of the terms.

    There are at least `least` rows. First, the rows nearest in meaning, those with one of the rarest words, those of
    named days and the newest are scored quickly. Then the best of them are read again with their neighbours in time,
    which contribute to a row's features, and so are the newest and the pinned rows, which every result includes.
    """
    reach = REACH_OF_WHEN_QUESTIONS if search.question.asks_when else REACH
    nearest, newest = max(reach.nearest, 2 * least), max(NEWEST, least)
    rarity = sampled_statistics(sample, search)
    worded = reach.among(rarity.rows)
    rare = rarity.rarest(worded)
    worded *= 2  # a margin, because the sample may be wrong
    visited = nearest * max(1.0, sample.rows_in_table / rarity.rows)  # the index does not know owners
    hits = CandidateQuery(
        rare=rare.tolist(),
        worded=worded,
        nearest=nearest,
        newest=newest,
        random=RANDOM,
        indexed=rarity.rows > MAX_NEIGHBOURHOODS * visited,
        large=rarity.rows > sample.rows_in_table * LARGE_SHARE,
    ).of(search)
    if not len(hits):
        return hits, rarity  # all rows became cold since the sample was taken
    rarity = rarity.counted(hits, rare).compared(hits.take(_random_places(hits)))
    scores = scores_of(features(hits, search.question, rarity), weights)
    best = best_of_windows(hits, scores, sample.rows, rarity.rows)
    good = hits.take(promising_windows(best, scores, behind=BEHIND, wanted=least))
    pinned = hits.compress((hits["marks"] & PINNED) > 0)
    all_came = rarity.having[rare].sum() < worded
    others = [place for place in search.places if not all_came or place not in rare]
    around = add_neighbours(search, good, np.concatenate([hits[-newest:], pinned]), others)
    return copy_marks(around, hits), rarity


def _random_places(hits: Columns) -> NDArray[np.intp]:
    """Return the indexes of the random rows: those with the lowest last bytes of their ids, which are random."""
    last = hits["id_low"] % VALUES
    return np.argsort(last, kind="stable")[:RANDOM]
