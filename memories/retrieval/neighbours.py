"""Rows that stand next to each other on one day are neighbours: what is around a row tells what it is about."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memories.retrieval.dating import date_of
from memories.retrieval.rows import Columns

Numbers = NDArray[np.float64]
Values = TypeVar("Values", Numbers, NDArray[np.int64])


class Neighbours:
    """The days of rows that come in order of time. Values are arrays with a number per row."""

    def __init__(self, rows: Columns) -> None:
        date = date_of(rows)
        self._continues = np.zeros(len(rows), dtype=bool)
        self._continues[1:] = date[1:] == date[:-1]
        self._starts = np.flatnonzero(~self._continues)
        self._counts = np.diff(self._starts, append=len(rows))

    def previous(self, values: Values) -> Values:
        """Return that of the row before; nothing where it is of another day."""
        before = np.zeros_like(values)
        before[1:] = values[:-1] * self._continues[1:]
        return before

    def next(self, values: Values) -> Values:
        """Return that of the row after; nothing where it is of another day."""
        after = np.zeros_like(values)
        after[:-1] = values[1:] * self._continues[1:]
        return after

    def around(self, values: Numbers) -> Numbers:
        """Return the sum of the row's own, that of the row before and that of the row after."""
        around: Numbers = values + self.previous(values) + self.next(values)
        return around

    def per_day(self, join: np.ufunc, values: Values) -> Values:
        """Return a number per day: the values of its rows, joined."""
        joined: Values = join.reduceat(values, self._starts) if len(self._starts) else values
        return joined

    def spread(self, per_day: Numbers) -> Numbers:
        """Return a number per row: that of its day."""
        spread: Numbers = np.repeat(per_day, self._counts)
        return spread
