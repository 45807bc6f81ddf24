"""The charts of trends: bars by day, in the units of their SVG, each with the table that says the same. Pure."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.formats import date_format

from assembly.trends.reading import Day

WIDTH, HEIGHT = 1000.0, 200.0
GAP = 0.18
"""Of a bar's room that is left free beside it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of every bar: what it is called, by which class it is coloured, and how much of it a day has."""

    label: str
    tone: str
    amount: Callable[[Day], float]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one bar, from y downwards."""

    tone: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    """One day, and where its contexts are listed. `room` is as wide as the bar and what is free beside it."""

    x: float
    width: float
    room_x: float
    room: float
    told: str
    address: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
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
    bars: tuple[Bar, ...]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]


def chart_of(
    *,
    key: str,
    heading: str,
    told: str,
    days: Sequence[Day],
    parts: Sequence[Part],
    worded: Callable[[float], str],
    address: Callable[[datetime.date], str],
) -> Chart:
    """The chart of these parts, each bar linked to its day; a day without contexts has neither bar nor row."""
    shown = [part for part in parts if any(part.amount(day) for day in days)]
    most = max((sum(part.amount(day) for part in shown) for day in days), default=0) or 1
    step = WIDTH / max(len(days), 1)
    counted = [(place * step, day) for place, day in enumerate(days) if day.tally.contexts]
    rows = tuple(
        Row(day.day, address(day.day), (f"{day.tally.contexts:,}", *(worded(part.amount(day)) for part in shown)))
        for _, day in counted
    )
    bars = tuple(_bar(day, x, step, shown, most, worded, address(day.day)) for x, day in counted)
    legend = tuple((part.tone, part.label) for part in shown)
    return Chart(key, heading, told, worded(most), legend, bars, tuple(part.label for part in shown), rows)


def _bar(
    day: Day, x: float, step: float, parts: Sequence[Part], most: float, worded: Callable[[float], str], address: str
) -> Bar:
    pieces, filled = [], 0.0
    for part in parts:
        height = part.amount(day) * HEIGHT / most
        filled += height
        if height:
            pieces.append(Piece(part.tone, round(HEIGHT - filled, 2), round(height, 2)))
    amounts = [f"{part.label} {worded(part.amount(day))}" for part in parts if part.amount(day)]
    told = f"{date_format(day.day, 'j F')}: {', '.join(amounts) or worded(0)}"
    return Bar(
        round(x + step * GAP / 2, 2),
        round(step * (1 - GAP), 2),
        round(x, 2),
        round(step, 2),
        told,
        address,
        tuple(pieces),
    )
