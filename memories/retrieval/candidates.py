"""Which rows are measured: all of an owner with few, those that come into question of one with many."""

from collections.abc import Mapping

import numpy as np
from django.db import transaction

from memories.retrieval.features import features
from memories.retrieval.hits import Hits, prepare, rows_around
from memories.retrieval.rarity import Rarity, rarity_by_sample, rarity_of
from memories.retrieval.rows import Columns, Search, id_of, joined
from memories.retrieval.scores import scores_of

EXACT_ROWS = 2_000
"""An owner with no more than these is measured whole."""
SORTED_ROWS = 10_000
"""Of an owner with no more than these, the nearest are found by looking at each: the index would pass over too many."""
SAMPLE = 500
NEWEST = 50
WORDED = 4_000
"""So many rows the rarest terms may select together, as the sample has it, before more frequent terms do not."""
MOST_WORDED = 2 * WORDED
"""The sample may be wrong."""
BEST = 200
"""So many that look best are measured with those around them."""
LARGE_SHARE = 0.1
"""Of the table: with so much of it, nearly all that is found by its words alone is the owner's."""


def whole(search: Search, most: int) -> tuple[Columns, Rarity]:
    """All rows, in order of time, of an owner that has no more than so many."""
    rows = search.newest(most)
    return rows, rarity_of(rows, search)


def in_question(search: Search, weights: Mapping[str, float], least: int) -> tuple[Columns, Rarity]:
    """Of an owner with more: the rows that may be among the best, in order of time; at least so many.

    They are the nearest in meaning, all that have one of the rarest words, those of named days and the newest. Those of
    them that look best come with what stands around them: a row may owe its place to these.
    """
    with transaction.atomic():
        rows_in_table = prepare()
        rarity = rarity_by_sample(search.sample(SAMPLE), search)
        rare = rarity.rarest(WORDED)
        hits = Hits(
            rare=" | ".join(search.terms.all[place] for place in rare),
            worded=MOST_WORDED,
            newest=max(NEWEST, least),
            indexed=rarity.rows > SORTED_ROWS,
            large=rarity.rows > rows_in_table * LARGE_SHARE,
        ).of(search)
        rarity = rarity.counted(hits, rare)
        scores = scores_of(features(hits, search.question, rarity), weights)
        best = np.argsort(-scores, kind="stable")[: max(BEST, least)]
        around = rows_around(search, [id_of(row) for row in hits[best]])
        return joined(hits, around), rarity
