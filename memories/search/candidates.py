"""Which rows are measured: all of an owner with few, those that come into question of one with many."""

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
"""An owner with no more than these is measured whole."""
MAX_NEIGHBOURHOODS = 12
"""The index takes as long for each next nearest of the table as it takes to look at so many of an owner's rows."""
NEWEST = 50
RANDOM = 300
"""So many rows tell how near a row is to the question by chance."""
WORDED_SAMPLE_ROWS = 10_000
BEHIND = 3.0
"""By so much a stretch may seem worse than the rows that are wanted, and yet have one that belongs to them: the hits
alone do not tell all of what stands around them. Scores are logarithms of odds, and so is what lies between.
"""
LARGE_SHARE = 0.1
"""Of the table: with so much of it, nearly all that is found by its words alone is the owner's."""


@dataclass(frozen=True, slots=True)
class SearchReach:
    """How far the search goes in an owner's many rows."""

    worded: int
    """So many rows the rarest terms may select together, as the sample has it, before more frequent terms do not."""
    max_term_match_rows: int
    """Of more than 10,000 rows, accordingly more, up to so many: fewer would be rarer words, which tell more."""
    nearest: int
    """So many are found by their meaning, or twice as many as are wanted where these are more."""

    def among(self, rows: float) -> int:
        """How many the rarest terms may select of so many rows."""
        return round(min(self.max_term_match_rows, self.worded * max(1.0, rows / WORDED_SAMPLE_ROWS)))


# Whoever asks when is told by a row that says a time, and it is often another row of the day that has the words.
# Recall moves by .01 with what the sample happens to be: what is tried here is to be tried with several.
REACH = SearchReach(worded=2_000, max_term_match_rows=3_000, nearest=75)
REACH_OF_WHEN_QUESTIONS = SearchReach(worded=4_000, max_term_match_rows=7_000, nearest=150)


def all_rows(search: OwnerSearch, most: int) -> tuple[Columns, TermStatistics]:
    """All rows, in order of time, of an owner that has no more than so many."""
    rows = search.newest(most)
    return rows, exact_statistics(rows, search)


def candidate_rows(
    search: OwnerSearch, weights: Weights, least: int, sample: OwnerSample
) -> tuple[Columns, TermStatistics]:
    """Of an owner with more: the rows that may be among the best, in order of time; at least so many.

    The nearest in meaning, all that have one of the rarest words, those of named days and the newest are looked over.
    Those of them that look good are measured together with what stands around them: a row may owe its place to these.
    So are the newest and the pinned, which are wanted in any case.
    """
    reach = REACH_OF_WHEN_QUESTIONS if search.question.asks_when else REACH
    nearest, newest = max(reach.nearest, 2 * least), max(NEWEST, least)
    rarity = sampled_statistics(sample, search)
    worded = reach.among(rarity.rows)
    rare = rarity.rarest(worded)
    worded *= 2  # the sample may be wrong
    visited = nearest * max(1.0, sample.rows_in_table / rarity.rows)  # the index knows no owners
    hits = CandidateQuery(
        rare=rare.tolist(),
        worded=worded,
        nearest=nearest,
        newest=newest,
        random=RANDOM,
        indexed=rarity.rows > MAX_NEIGHBOURHOODS * visited,
        large=rarity.rows > sample.rows_in_table * LARGE_SHARE,
    ).of(search)
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
    """Return the places of the rows that chance chose: the last bytes of their ids are the lowest of all rows."""
    last = hits["id_low"] % VALUES
    return np.argsort(last, kind="stable")[:RANDOM]
