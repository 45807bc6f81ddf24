"""This module makes the SVG paths of a drawn graph: nodes shaped by their entity's type, and lines between nodes."""

import math
from dataclasses import dataclass

Point = tuple[float, float]

CURVE = 20.0  # between lines of the same two nodes, in units of the drawing
CLEARANCE = 3.0  # between a node and the tip of an arrow


@dataclass(frozen=True, slots=True)
class Shape:
    """A regular polygon whose first corner is turned by `turn` degrees from the top; without corners, a circle.

    `size` makes polygons look as large as the circle. A star has inner corners between its corners.
    """

    name: str
    corners: int = 0
    turn: float = 0
    size: float = 1.0
    star: bool = False


SHAPES = (
    Shape("circle"),
    Shape("square", 4, 45, 1.25),
    Shape("triangle", 3, 0, 1.4),
    Shape("diamond", 4, 0, 1.3),
    Shape("hexagon", 6, 0, 1.1),
    Shape("flag", 3, 180, 1.4),
    Shape("star", 5, 0, 1.4, star=True),
    Shape("pentagon", 5, 0, 1.15),
    Shape("cross", 4, 0, 1.6, star=True),
)


def node_path(shape: Shape, centre: Point, radius: float) -> str:
    """Return the path of a node's outline."""
    x, y = centre
    if not shape.corners:
        return (
            f"M{x - radius:.1f} {y:.1f}a{radius} {radius} 0 1 0 {2 * radius} 0a{radius} {radius} 0 1 0 {-2 * radius} 0Z"
        )
    steps = shape.corners * 2 if shape.star else shape.corners
    corners = []
    for step in range(steps):
        angle = math.radians(shape.turn + step * 360 / steps)
        away = radius * shape.size * (0.5 if shape.star and step % 2 else 1)
        corners.append(f"{x + away * math.sin(angle):.1f} {y - away * math.cos(angle):.1f}")
    return f"M{'L'.join(corners)}Z"


def line_path(start: Point, end: Point, start_radius: float, end_radius: float, bend: float) -> tuple[str, Point]:
    """Return the path of a line from rim to rim, bent sideways by `bend`, and its middle, the position of its label."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    across = (-(y2 - y1) / length, (x2 - x1) / length)
    control = ((x1 + x2) / 2 + across[0] * bend * 2, (y1 + y2) / 2 + across[1] * bend * 2)
    first, last = _rim(start, control, start_radius), _rim(end, control, end_radius)
    middle = ((x1 + x2) / 2 + across[0] * bend, (y1 + y2) / 2 + across[1] * bend)
    return f"M{_at(first)}Q{_at(control)} {_at(last)}", middle


def loop_path(centre: Point, radius: float) -> tuple[str, Point]:
    """Return the path of a line from a node to itself, above it, and the position of its label."""
    x, y = centre
    foot, top = y - radius - CLEARANCE, y - radius - 36
    return f"M{_at((x - 5, foot))}C{_at((x - 28, top))} {_at((x + 28, top))} {_at((x + 5, foot))}", (x, top + 9)


def _rim(centre: Point, towards: Point, radius: float) -> Point:
    length = math.hypot(towards[0] - centre[0], towards[1] - centre[1]) or 1.0
    away = min(radius + CLEARANCE, length)
    return (
        centre[0] + (towards[0] - centre[0]) * away / length,
        centre[1] + (towards[1] - centre[1]) * away / length,
    )


def _at(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"
