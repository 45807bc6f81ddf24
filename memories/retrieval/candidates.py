"""Which rows are measured: all of an owner with few, those that come into question of one with many."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from memories.retrieval.features import features
from memories.retrieval.hits import Hits, rows_around
from memories.retrieval.rarity import Rarity, rarity_by_sample, rarity_of
from memories.retrieval.rows import PINNED, Columns, Search, marked_as
from memories.retrieval.samples import Sample
from memories.retrieval.scores import scores_of
from memories.retrieval.stretches import best_of_stretches, hopeful

EXACT_ROWS = 2_000
"""An owner with no more than these is measured whole."""
SORTED_ROWS = 10_000
"""Of an owner with no more than these, the nearest are found by looking at each: the index would pass over too many."""
NEWEST = 50
LARGE_SHARE = 0.1
"""Of the table: with so much of it, nearly all that is found by its words alone is the owner's."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the search goes in an owner's many rows. Scores are logarithms of odds, and so is what lies between."""

    worded: int
    """So many rows the rarest terms may select together, as the sample has it, before more frequent terms do not."""
    behind: float
    """By so much a stretch may seem worse than the rows that are wanted, and yet have one that belongs to them."""
    nearest: int
    """So many are found by their meaning, or twice as many as are wanted where these are more."""


# Whoever asks when is told by a row that says a time, and it is often another row of the day that has the words.
# Recall moves by .01 with what the sample happens to be: what is tried here is to be tried with several.
REACH, REACH_OF_WHEN = Reach(3_000, 1.3, nearest=75), Reach(7_000, 2.75, nearest=150)
# Of fewer rows, as many with a word are more frequent words, which tell less.
REACH_SORTED, REACH_SORTED_OF_WHEN = replace(REACH, worded=2_000), replace(REACH_OF_WHEN, worded=4_000)


def whole(search: Search, most: int) -> tuple[Columns, Rarity]:
    """All rows, in order of time, of an owner that has no more than so many."""
    rows = search.newest(most)
    return rows, rarity_of(rows, search)


def in_question(search: Search, weights: Mapping[str, float], least: int, sample: Sample) -> tuple[Columns, Rarity]:
    """Of an owner with more: the rows that may be among the best, in order of time; at least so many.

    The nearest in meaning, all that have one of the rarest words, those of named days and the newest are looked over.
    Those of them that look good are measured together with what stands around them: a row may owe its place to these.
    So are the newest and the pinned, which are wanted in any case.
    """
    of_when = search.question.asks_when
    reach = REACH_OF_WHEN if of_when else REACH
    nearest, newest = max(reach.nearest, 2 * least), max(NEWEST, least)
    rarity = rarity_by_sample(sample, search)
    indexed = rarity.rows > SORTED_ROWS
    if not indexed:
        reach = REACH_SORTED_OF_WHEN if of_when else REACH_SORTED
    rare, worded = rarity.rarest(reach.worded), 2 * reach.worded  # the sample may be wrong
    hits = Hits(
        rare=rare.tolist(),
        worded=worded,
        nearest=nearest,
        newest=newest,
        indexed=indexed,
        large=rarity.rows > sample.rows_in_table * LARGE_SHARE,
    ).of(search)
    rarity = rarity.counted(hits, rare)
    scores = scores_of(features(hits, search.question, rarity), weights)
    best = best_of_stretches(hits, scores, sample.rows, rarity.rows)
    good = hits.take(hopeful(best, scores, behind=reach.behind, wanted=least))
    pinned = hits.compress((hits["marks"] & PINNED) > 0)
    all_came = rarity.having[rare].sum() < worded
    others = [place for place in search.places if not all_came or place not in rare]
    around = rows_around(search, good, np.concatenate([hits[-newest:], pinned]), others)
    return marked_as(around, hits), rarity
