"""When rows are from, and how near that is to the days that a question names.

Stretches: rows of one day that stand close together, so that they are read at once, however many are hits.
"""

import numpy as np
from numpy.typing import NDArray

from memories.search.question import SearchQuestion
from memories.search.row_format import EPOCH, Columns

MICROSECONDS_A_DAY = 86_400_000_000
WEEK_DAYS = 7
NEAR_DAYS = 5.0
"""So many days from a named one, nearness to it is down to 1/e."""


def date_of(rows: Columns) -> NDArray[np.int64]:
    """In days since EPOCH, in UTC."""
    dates: NDArray[np.int64] = rows["at"].astype(np.int64) // MICROSECONDS_A_DAY
    return dates


def is_on_named_day(rows: Columns, question: SearchQuestion) -> NDArray[np.float64]:
    """1 for a row that is of a day that the question names, else 0."""
    named = np.zeros(len(rows))
    if not question.days:
        return named
    date = date_of(rows)
    for first, last in _day_spans(question):
        named = np.maximum(named, (first <= date) & (date <= last))
    return named


def day_nearness(rows: Columns, question: SearchQuestion) -> NDArray[np.float64]:
    """1 down to 0 with the distance from the nearest of the named days; whole months and years have no nearness."""
    near = np.zeros(len(rows))
    if not question.days:
        return near
    date = date_of(rows)
    for first, last in _day_spans(question):
        if last - first < WEEK_DAYS:
            away = np.maximum(0, np.maximum(first - date, date - last))
            near = np.maximum(near, np.exp(-away / NEAR_DAYS))
    return near


def _day_spans(question: SearchQuestion) -> list[tuple[int, int]]:
    return [((days.first - EPOCH).days, (days.last - EPOCH).days) for days in question.days]


WINDOW_ROWS = 24
"""In rows, about. Days with fewer are one stretch, or two."""
WINDOWS_PER_OWNER = 2**32
"""More than any owner has."""
MAX_WINDOWS = 400
"""So many may be hopeful, unless more rows are wanted."""


def best_of_windows(hits: Columns, scores: NDArray[np.float64], sample: Columns, owned: float) -> NDArray[np.intp]:
    """The place of the best hit of each stretch, the best first.

    The sample, in order of time, of so many rows that are owned tells about how many lie between two moments.
    """
    rank = np.interp(hits["at"].astype(float), sample["at"].astype(float), np.linspace(0, owned, len(sample)))
    stretch = date_of(hits) * WINDOWS_PER_OWNER + (rank / WINDOW_ROWS).astype(np.int64)
    first = np.flatnonzero(np.diff(stretch, prepend=-1))
    if not len(first):
        return first
    highest = np.maximum.reduceat(scores, first)
    high = np.flatnonzero(scores == np.repeat(highest, np.diff(first, append=len(scores))))
    best = high[np.diff(stretch[high], prepend=-1) != 0]
    in_order: NDArray[np.intp] = best[np.argsort(-highest, kind="stable")]
    return in_order


def promising_windows(
    best: NDArray[np.intp], scores: NDArray[np.float64], *, behind: float, wanted: int
) -> NDArray[np.intp]:
    """Those of the best hits of their stretches, the best first, whose stretch may have what is wanted.

    They score no less than the last of as many hits as are wanted, but for what they may be behind. There are as many
    of them as rows are wanted, at least, where there are so many stretches.
    """
    last = np.partition(scores, -wanted)[-wanted] if 0 < wanted < len(scores) else scores.min(initial=np.inf)
    near = np.count_nonzero(scores[best] >= last - behind)
    return best[: max(wanted, min(near, MAX_WINDOWS))]
