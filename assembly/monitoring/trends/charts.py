"""The charts of trends: bars by day, in the units of their SVG, each with the table that says the same. Pure."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from assembly.monitoring.trends.reading import DayCounts

WIDTH, HEIGHT = 1000.0, 200.0
PEAK = 3
"""So many times the median day is the most that a chart shows which cuts peaks."""
GAP = 0.18
"""Of a bar's room that is left free beside it."""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """A part of every bar: what it is called, by which class it is coloured, and how much of it a day has."""

    label: str
    tone: str
    amount: Callable[[DayCounts], float]


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of one bar, from y downwards."""

    tone: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One day, and where its contexts are listed. `room` is as wide as the bar and what is free beside it."""

    x: float
    width: float
    slot_x: float
    room: float
    told: str
    address: str
    pieces: tuple[BarSegment, ...]


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One day in the table."""

    day: datetime.date
    address: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars with a legend, and their table; `top` is what the height stands for."""

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
    """What bars are made of, and the amount that fills their height."""

    parts: Sequence[ChartSeries]
    most: float
    worded: Callable[[float], str]

    def pieces(self, day: DayCounts) -> tuple[BarSegment, ...]:
        """The parts of a day's bar, the first at the bottom."""
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
    """The chart of these parts, each bar linked to its day; a day without contexts has neither bar nor row.

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
