"""The bars of a chart of requests by day, in the units of its SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.quotas.models import DailyUse

WIDTH, HEIGHT = 1000.0, 200.0
GAP = 0.18
"""Share of a day's width that is left free next to its bar."""


@dataclass(frozen=True, slots=True)
class UseBar:
    """One day: requests let in from the bottom, refused ones on top of them."""

    use: DailyUse
    x: float
    width: float
    y: float
    height: float
    refused_y: float
    refused_height: float


def bars_of(days: Sequence[DailyUse]) -> list[UseBar]:
    """Return a bar for each day; the highest fills the height. None where nothing was used."""
    most = max(day.requests + day.refused for day in days)
    if not most:
        return []
    room = WIDTH / len(days)
    return [_bar(day, place * room, room * (1 - GAP), HEIGHT / most) for place, day in enumerate(days)]


def _bar(use: DailyUse, x: float, width: float, scale: float) -> UseBar:
    let_in, refused = round(use.requests * scale, 2), round(use.refused * scale, 2)
    y = HEIGHT - let_in
    return UseBar(use, round(x, 2), round(width, 2), y, let_in, y - refused, refused)
