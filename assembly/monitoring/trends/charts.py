"""The charts of trends are bars by day, in the units of their SVG, each with a table of the same values.

This module has no side effects.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from assembly.monitoring.trends.reading import DayCounts

WIDTH, HEIGHT = 1000.0, 200.0
PEAK = 3
"""The maximum of a chart that clips peaks, in multiples of the median day."""
GAP = 0.18
"""The share of a bar's width that is free beside it."""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A series of a chart: its name, its CSS class, and its value on a day."""

    label: str
    tone: str
    amount: Callable[[DayCounts], float]


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A segment of a bar, from y downwards."""

    tone: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A day in a chart, with the address of its contexts. `room` is the width of the bar with the free
    space beside it.
    """

    x: float
    width: float
    slot_x: float
    room: float
    told: str
    address: str
    pieces: tuple[BarSegment, ...]


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A day in the table."""

    day: datetime.date
    address: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its bars, legend and table; `top` is the value of the full height."""

    key: str
    heading: str
    told: str
    top: str
    legend: tuple[tuple[str, str], ...]
    bars: tuple[ChartBar, ...]
    heads: tuple[str, ...]
    rows: tuple[ChartRow, ...]


@dataclass(frozen=True, slots=True)
class ChartScale:
    """The series of the bars, and the value that fills their height."""

    parts: Sequence[ChartSeries]
    most: float
    worded: Callable[[float], str]

    def pieces(self, day: DayCounts) -> tuple[BarSegment, ...]:
        """Return the segments of a day's bar, the first at the bottom."""
        found, filled = [], 0.0
        for part in self.parts:
            height = min(part.amount(day) * HEIGHT / self.most, HEIGHT - filled)
            filled += height
            if height:
                found.append(BarSegment(part.tone, round(HEIGHT - filled, 2), round(height, 2)))
        return tuple(found)


def chart_of(
    *,
    key: str,
    heading: str,
    told: str,
    days: Sequence[DayCounts],
    parts: Sequence[ChartSeries],
    worded: Callable[[float], str],
    address: Callable[[datetime.date], str],
    clips_peaks: bool = False,
) -> Chart:
    """Return the chart of these series, in which each bar links to its day; a day without contexts has neither bar nor
    row.

    With `clips_peaks`, a rare day far above all others does not make these invisible: its bar ends at the top.
    """
    shown = [part for part in parts if any(part.amount(day) for day in days)]
    sums = [sum(part.amount(day) for part in shown) for day in days if day.tally.contexts]
    highest = max(sums, default=0) or 1
    most = min(highest, PEAK * (median(sums) or highest)) if clips_peaks and sums else highest
    scale = ChartScale(shown, most, worded)
    step = WIDTH / max(len(days), 1)
    counted = [(place * step, day) for place, day in enumerate(days) if day.tally.contexts]
    rows = tuple(
        ChartRow(day.day, address(day.day), (f"{day.tally.contexts:,}", *(worded(part.amount(day)) for part in shown)))
        for _x, day in counted
    )
    bars = tuple(_bar(day, x, step, scale, address(day.day)) for x, day in counted)
    legend = tuple((part.tone, part.label) for part in shown)
    top = worded(most) if most == highest else _("%(most)s and more") % {"most": worded(most)}
    return Chart(key, heading, told, top, legend, bars, tuple(part.label for part in shown), rows)


def _bar(day: DayCounts, x: float, step: float, scale: ChartScale, address: str) -> ChartBar:
    amounts = [f"{part.label} {scale.worded(part.amount(day))}" for part in scale.parts if part.amount(day)]
    told = f"{date_format(day.day, 'j F')}: {', '.join(amounts) or scale.worded(0)}"
    free = step * GAP
    return ChartBar(
        round(x + free / 2, 2), round(step - free, 2), round(x, 2), round(step, 2), told, address, scale.pieces(day)
    )
