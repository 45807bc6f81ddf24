"""Draws the map of the walk from stops.csv: python walk_map.py stops.csv writes walk.svg."""

import csv
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

METRES_PER_POINT = 4
MARGIN = 40


@dataclass(frozen=True)
class Stop:
    """A place to stand. East and north of the Ferry Stage, and the leg before it, in metres as walked."""

    name: str
    east: int
    north: int
    leg: int


def read_stops(path: Path) -> list[Stop]:
    """The stops in the order in which they are walked."""
    stops: dict[str, Stop] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            stops[row["stop"]] = Stop(row["stop"], int(row["east"]), int(row["north"]), int(row["leg"]))
    return list(stops.values())


def legs(stops: list[Stop]) -> list[tuple[Stop, Stop]]:
    """Each stop with the next one."""
    return list(pairwise(stops))


def total(stops: list[Stop]) -> int:
    """The whole walk in metres: the legs as walked, not as the gull flies."""
    return sum(after.leg for _, after in legs(stops))


def placed(stop: Stop, stops: list[Stop]) -> tuple[float, float]:
    """Where the stop stands on the page, in points from the upper left corner. North is up."""
    west = min(other.east for other in stops)
    top = max(other.north for other in stops)
    return MARGIN + (stop.east - west) / METRES_PER_POINT, MARGIN + (top - stop.north) / METRES_PER_POINT


def drawn(stops: list[Stop]) -> str:
    """The map as SVG: a line for each leg, a dot and a name for each stop."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" font-family="serif" font-size="9">']
    for before, after in legs(stops):
        (x1, y1), (x2, y2) = placed(before, stops), placed(after, stops)
        lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="black"/>')
    for number, stop in enumerate(stops, 1):
        x, y = placed(stop, stops)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        lines.append(f'<text x="{x + 6:.1f}" y="{y + 3:.1f}">{number} {stop.name}</text>')
    return "\n".join([*lines, "</svg>"])


if __name__ == "__main__":
    walk = read_stops(Path(sys.argv[1]))
    Path("walk.svg").write_text(drawn(walk), encoding="utf-8")
    sys.stdout.write(f"walk.svg: {len(walk)} stops, {len(legs(walk))} legs, {total(walk):,} m\n")
