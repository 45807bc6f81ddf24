"""A difference is a pair of values of two statements that cannot both be true; numbers and dates are compared here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from assembly.conflicts.detection.date_values import DateValue
from assembly.conflicts.detection.quantities import COUNT, Quantity
from assembly.conflicts.detection.statement import Statement

Kind = Literal["number", "date", "time", "negation", "state", "property", "meaning", "duplicate", ""]
Value = TypeVar("Value", Quantity, DateValue)

CURRENCIES = ("EUR", "USD", "GBP", "CHF")
PRICE_WORDS = frozenset(("cost", "pay", "kost"))
"""The keys of words that say no more than that a price follows."""
NUMBER_LEAST, NUMBER_SPAN = 0.3, 0.6
"""A number's strength is .3 for nearly equal ones up to .9, by the relative difference."""
DATE_LEAST, DATE_SPAN, DATE_DAYS = 0.3, 0.5, 60.0
"""A date's strength is .3 for a day's distance up to .8 for 60 days, by the logarithm of the distance."""
CLOCK_SPAN, WEEKDAY_SPAN = 0.25, 3.0
"""The days apart at which times of day, and weekdays, have the largest strength."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A cue: its kind, its strength 0 to 1, and both values as they were written.

    The weights know one kind, `date`, for days, weekdays and times of day; people are told which of them differs.
    """

    kind: Kind
    strength: float
    left: str
    right: str
    is_of_times: bool = field(default=False, kw_only=True)
    """This tells whether both values are times of day."""

    @property
    def shown_kind(self) -> Kind:
        """The kind that people are told: that of the weights, or `time`."""
        return "time" if self.is_of_times else self.kind

    @property
    def sentence(self) -> str:
        """The cue as a sentence for people."""
        if self.kind == "negation":
            side = "left" if self.left else "right"
            return f"“{self.left or self.right}” only in the {side} text"
        return f"“{self.left}” against “{self.right}”"


class ComparedValues(NamedTuple):
    """This is what the comparison of the numbers, or of the dates, of two statements found."""

    differences: list[Difference]
    equal: int
    """How many are equal."""
    left_extra: int
    """How many of the left statement have no counterpart; likewise of the right one."""
    right_extra: int
    is_finer: bool
    """This tells whether one statement gives an equal value more exactly."""


def number_differences(left: Sequence[Quantity], right: Sequence[Quantity]) -> ComparedValues:
    """Return how the numbers of two statements differ.

    Several numbers that are the same in another order agree: “9 metres wide and 7 deep” names its unit once.
    """
    if has_equal_numbers(left, right):
        return ComparedValues([], len(left), 0, 0, is_finer=False)

    def difference(mine: Quantity, theirs: Quantity) -> float | None:
        return mine.difference(theirs) if mine.is_comparable(theirs) else None

    return _compare_values("number", left, right, difference, lambda _, relative: number_strength(relative))


def has_equal_numbers(left: Sequence[Quantity], right: Sequence[Quantity]) -> bool:
    """Return whether both have the same numbers, at least two, in any order."""
    return len(left) > 1 and _sizes(left) == _sizes(right)


def _sizes(quantities: Sequence[Quantity]) -> list[tuple[float, float]]:
    return sorted((one.low, one.high) for one in quantities)


def number_strength(relative: float) -> float:
    """Return the strength for a relative difference, both 0 to 1."""
    return NUMBER_LEAST + NUMBER_SPAN * relative


def price_difference(left: Statement, right: Statement) -> Difference | None:
    """Return the difference of what costs nothing and what has a price; None if neither or both have one."""
    prices = [
        [
            one
            for one in side.quantities
            if one.low > 0 and (one.dimension in CURRENCIES or (one.dimension == COUNT and side.words & PRICE_WORDS))
        ]
        for side in (left, right)
    ]
    if left.gratis and not left.is_negated and not prices[0] and len(prices[1]) == 1 and not right.gratis:
        return Difference("number", NUMBER_LEAST + NUMBER_SPAN, left.gratis, prices[1][0].text)
    if right.gratis and not right.is_negated and not prices[1] and len(prices[0]) == 1 and not left.gratis:
        return Difference("number", NUMBER_LEAST + NUMBER_SPAN, prices[0][0].text, right.gratis)
    return None


def date_differences(left: Sequence[DateValue], right: Sequence[DateValue]) -> ComparedValues:
    """Return how the days, weekdays and times of two statements differ."""
    return _compare_values("date", left, right, DateValue.distance, _date_strength)


def _compare_values(
    kind: Kind,
    left: Sequence[Value],
    right: Sequence[Value],
    difference: Callable[[Value, Value], float | None],
    strength: Callable[[Value, float], float],
) -> ComparedValues:
    """Return how the values of both sides differ; a value that has an equal one on the other side agrees."""
    apart = [[difference(mine, theirs) for theirs in right] for mine in left]
    equal_left = {row for row, line in enumerate(apart) if 0 in line}
    equal_right = {column for column in range(len(right)) if any(line[column] == 0 for line in apart)}
    found: list[Difference] = []
    compared_left, compared_right = set(equal_left), set(equal_right)
    for row, line in enumerate(apart):
        for column, distance in enumerate(line):
            if distance and row not in equal_left and column not in equal_right:
                mine, theirs = left[row], right[column]
                is_of_times = isinstance(mine, DateValue) and mine.kind == "clock"
                size = strength(mine, distance)
                found.append(Difference(kind, size, mine.text, theirs.text, is_of_times=is_of_times))
                compared_left.add(row)
                compared_right.add(column)
    extra = len(left) - len(compared_left), len(right) - len(compared_right)
    is_finer = any(
        distance == 0 and left[row].precision != right[column].precision
        for row, line in enumerate(apart)
        for column, distance in enumerate(line)
    )
    return ComparedValues(found, min(len(equal_left), len(equal_right)), *extra, is_finer)


def _date_strength(value: DateValue, days: float) -> float:
    """Return the strength for a distance in days; of weekdays and times of day by their share of the largest one."""
    if value.kind == "day":
        share = math.log1p(days) / math.log1p(DATE_DAYS)
    elif value.kind == "weekday":
        share = days / WEEKDAY_SPAN
    else:
        share = days / CLOCK_SPAN
    return DATE_LEAST + DATE_SPAN * min(1.0, share)
