"""This module compares the dates of rows with the days that a question names, and groups rows into windows.

A window is a run of about 24 consecutive rows of one day, which are read together, however many of them are hits.
"""

import numpy as np
from numpy.typing import NDArray

from memories.search.question import SearchQuestion
from memories.search.row_format import EPOCH, Columns

MICROSECONDS_A_DAY = 86_400_000_000
WEEK_DAYS = 7
NEAR_DAYS = 5.0
"""The distance in days from a named day at which `day_nearness` has fallen to 1/e."""


def date_of(rows: Columns) -> NDArray[np.int64]:
    """Return each row's date (UTC) as a number of days since EPOCH."""
    dates: NDArray[np.int64] = rows["at"].astype(np.int64) // MICROSECONDS_A_DAY
    return dates


def is_on_named_day(rows: Columns, question: SearchQuestion) -> NDArray[np.float64]:
    """Return 1 for each row on a day that the question names, else 0."""
    named = np.zeros(len(rows))
    if not question.days:
        return named
    date = date_of(rows)
    for first, last in _day_spans(question):
        named = np.maximum(named, (first <= date) & (date <= last))
    return named


def day_nearness(rows: Columns, question: SearchQuestion) -> NDArray[np.float64]:
    """Return for each row a number from 1 down to 0, by its distance from the nearest named day.

    Ranges longer than a week, such as whole months, do not count.
    """
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
"""The approximate number of rows in a window. A day with fewer rows is one window, or two."""
WINDOWS_PER_OWNER = 2**32
"""A number larger than the windows of any owner, by which a day and a window are encoded in one integer."""
MAX_WINDOWS = 400
"""The most windows that are expanded, unless more rows are requested."""


def best_of_windows(hits: Columns, scores: NDArray[np.float64], sample: Columns, owned: float) -> NDArray[np.intp]:
    """Return the index of the best hit of each window, the best first.

    `sample` holds random rows of the owner in order of time, and `owned` the number of the owner's rows; together they
    tell about how many rows lie between two moments.
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
    """Return the best hits, of those of each window, whose windows may contain a row of the result; the best first.

    A hit qualifies if its score is at most `behind` below that of the last of the `wanted` best hits. At least `wanted`
    hits are returned where there are so many windows.
    """
    last = np.partition(scores, -wanted)[-wanted] if 0 < wanted < len(scores) else scores.min(initial=np.inf)
    near = np.count_nonzero(scores[best] >= last - behind)
    return best[: max(wanted, min(near, MAX_WINDOWS))]
