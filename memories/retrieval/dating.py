"""When rows are from, and how near that is to the days that a question names."""

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.question import Question
from memories.retrieval.rows import EPOCH, Columns

MICROSECONDS_A_DAY = 86_400_000_000
WEEK_DAYS = 7
NEAR_DAYS = 5.0
"""So many days from a named one, nearness to it is down to 1/e."""


def date_of(rows: Columns) -> NDArray[np.int64]:
    """In days since EPOCH, in UTC."""
    dates: NDArray[np.int64] = rows["at"].astype(np.int64) // MICROSECONDS_A_DAY
    return dates


def of_named_days(rows: Columns, question: Question) -> NDArray[np.float64]:
    """1 for a row that is of a day that the question names, else 0."""
    named = np.zeros(len(rows))
    if not question.days:
        return named
    date = date_of(rows)
    for first, last in _spans(question):
        named = np.maximum(named, (first <= date) & (date <= last))
    return named


def nearness(rows: Columns, question: Question) -> NDArray[np.float64]:
    """1 down to 0 with the distance from the nearest of the named days; whole months and years have no nearness."""
    near = np.zeros(len(rows))
    if not question.days:
        return near
    date = date_of(rows)
    for first, last in _spans(question):
        if last - first < WEEK_DAYS:
            away = np.maximum(0, np.maximum(first - date, date - last))
            near = np.maximum(near, np.exp(-away / NEAR_DAYS))
    return near


def _spans(question: Question) -> list[tuple[int, int]]:
    return [((days.first - EPOCH).days, (days.last - EPOCH).days) for days in question.days]
