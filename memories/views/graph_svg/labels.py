"""Which nodes of a drawn graph have their name beside them, and on which side: none over another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_LABEL_CHARACTERS = 26  # characters
WIDTH, HEIGHT = 0.56, 1.15  # of an average letter and of a line, as parts of the font's size
GAP = 4.0  # between a node and its name

Boxes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A node that wants its name beside it. `size` is the font's, in units of the drawing."""

    name: str
    x: float
    y: float
    radius: float
    size: float


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A name as it is drawn; `anchor` is SVG's `text-anchor`, `y` the base line."""

    text: str
    x: float
    y: float
    size: float
    anchor: str


def place_labels(spots: Sequence[LabelRequest], *, width: float, height: float) -> list[PlacedLabel | None]:
    """A label for each spot, or None where every side is taken. The first spots choose first."""
    taken = np.empty((2 * len(spots), 4))
    count, found = len(spots), []
    for number, spot in enumerate(spots):
        taken[number] = _node_box(spot)
    for number, spot in enumerate(spots):
        chosen = None
        for label, box in _label_positions(spot):
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            if inside and not _overlaps(box, taken[:count], number):
                chosen, taken[count], count = label, box, count + 1
                break
        found.append(chosen)
    return found


def _node_box(spot: LabelRequest) -> tuple[float, float, float, float]:
    return (spot.x - spot.radius, spot.y - spot.radius, spot.x + spot.radius, spot.y + spot.radius)


def _overlaps(box: tuple[float, float, float, float], taken: Boxes, own: int) -> bool:
    over = (taken[:, 0] < box[2]) & (taken[:, 2] > box[0]) & (taken[:, 1] < box[3]) & (taken[:, 3] > box[1])
    over[own] = False
    return bool(over.any())


def _label_positions(spot: LabelRequest) -> list[tuple[PlacedLabel, tuple[float, float, float, float]]]:
    """The label right, left, below and above of the node, each with the box that it takes."""
    text = spot.name if len(spot.name) <= MAX_LABEL_CHARACTERS else f"{spot.name[: MAX_LABEL_CHARACTERS - 1].rstrip()}…"
    wide, high = len(text) * WIDTH * spot.size, HEIGHT * spot.size
    away = spot.radius + GAP
    places = (
        ("start", spot.x + away, spot.x + away, spot.y - high / 2),
        ("end", spot.x - away, spot.x - away - wide, spot.y - high / 2),
        ("middle", spot.x, spot.x - wide / 2, spot.y + away),
        ("middle", spot.x, spot.x - wide / 2, spot.y - away - high),
    )
    return [
        (
            PlacedLabel(text, round(x, 1), round(top + high * 0.78, 1), spot.size, anchor),
            (left, top, left + wide, top + high),
        )
        for anchor, x, left, top in places
    ]
