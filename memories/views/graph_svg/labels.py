"""This module decides which nodes of a drawn graph have a label and on which side; no label overlaps another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_LABEL_CHARACTERS = 26
WIDTH, HEIGHT = 0.56, 1.15  # of an average letter and of a line, relative to the font size
GAP = 4.0  # between a node and its label

Boxes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """A node that is to be labelled with its name. `size` is the font size, in units of the drawing."""

    name: str
    x: float
    y: float
    radius: float
    size: float


@dataclass(frozen=True, slots=True)
class PlacedLabel:
    """A label as it is drawn; `anchor` is SVG's `text-anchor`, `y` the base line."""

    text: str
    x: float
    y: float
    size: float
    anchor: str


def place_labels(label_requests: Sequence[LabelRequest], *, width: float, height: float) -> list[PlacedLabel | None]:
    """Return a label for each node, or None where every side is taken. Earlier nodes take precedence."""
    taken = np.empty((2 * len(label_requests), 4))
    count, found = len(label_requests), []
    for number, label_request in enumerate(label_requests):
        taken[number] = _node_box(label_request)
    for number, label_request in enumerate(label_requests):
        chosen = None
        for label, box in _label_positions(label_request):
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            if inside and not _overlaps(box, taken[:count], number):
                chosen, taken[count], count = label, box, count + 1
                break
        found.append(chosen)
    return found


def _node_box(label_request: LabelRequest) -> tuple[float, float, float, float]:
    return (
        label_request.x - label_request.radius,
        label_request.y - label_request.radius,
        label_request.x + label_request.radius,
        label_request.y + label_request.radius,
    )


def _overlaps(box: tuple[float, float, float, float], taken: Boxes, own: int) -> bool:
    over = (taken[:, 0] < box[2]) & (taken[:, 2] > box[0]) & (taken[:, 1] < box[3]) & (taken[:, 3] > box[1])
    over[own] = False
    return bool(over.any())


def _label_positions(label_request: LabelRequest) -> list[tuple[PlacedLabel, tuple[float, float, float, float]]]:
    """Return the label to the right, to the left, below and above the node, each with its bounding box."""
    text = (
        label_request.name
        if len(label_request.name) <= MAX_LABEL_CHARACTERS
        else f"{label_request.name[: MAX_LABEL_CHARACTERS - 1].rstrip()}…"
    )
    wide, high = len(text) * WIDTH * label_request.size, HEIGHT * label_request.size
    away = label_request.radius + GAP
    places = (
        ("start", label_request.x + away, label_request.x + away, label_request.y - high / 2),
        ("end", label_request.x - away, label_request.x - away - wide, label_request.y - high / 2),
        ("middle", label_request.x, label_request.x - wide / 2, label_request.y + away),
        ("middle", label_request.x, label_request.x - wide / 2, label_request.y - away - high),
    )
    return [
        (
            PlacedLabel(text, round(x, 1), round(top + high * 0.78, 1), label_request.size, anchor),
            (left, top, left + wide, top + high),
        )
        for anchor, x, left, top in places
    ]
