"""This module computes the positions of entities in a drawn graph, the same for equal graphs; related ones are close.

Stress majorisation ("Graph Drawing by Stress Majorization", Gansner, Koren and North 2004) on the distances in the
graph, after which overlapping nodes are moved apart. Nothing is random: the start is a spiral.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Edge = tuple[int, int]

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
ROUNDS, SEPARATIONS = 80, 60
MAX_DISTANCE_SHARE = 0.7  # the exponent of distances from the middle
FLAT = 1e-6  # a shorter span counts as 0
MIN_SEPARATION = 1.6  # distance of unconnected nodes, relative to the greatest distance in the graph


def lay_out(
    count: int, edges: Sequence[Edge], *, width: float, height: float, spacing: float
) -> list[tuple[float, float]]:
    """Return the centres of `count` nodes in the box, at least `spacing` apart if the box is large enough.

    `edges` name nodes by number. The first node starts in the middle.
    """
    if count == 0:
        return []
    placed = _majorise(_spiral(count), _distances(count, edges))
    placed = _fit_to_box(_pull_in_stragglers(placed), width, height)
    for _ in range(SEPARATIONS):
        moved = _move_apart(placed, spacing)
        if moved is None:
            break
        placed = np.clip(moved, 0, (width, height))
    return [(round(float(x), 1), round(float(y), 1)) for x, y in placed]


def _spiral(count: int) -> Floats:
    """Return points on a sunflower spiral: evenly spread and distinct."""
    numbers = np.arange(count)
    radius, angle = np.sqrt(numbers), numbers * GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _distances(count: int, edges: Sequence[Edge]) -> Floats:
    """Return the number of steps between each two nodes, by breadth-first search from all nodes at once."""
    beside = np.eye(count, dtype=bool)
    for one, other in edges:
        beside[one, other] = beside[other, one] = True
    reached = np.eye(count, dtype=bool)
    distances = np.where(reached, 0.0, np.inf)
    step = 0
    while True:
        step += 1
        wider = (reached.astype(np.float32) @ beside.astype(np.float32)) > 0
        if (wider == reached).all():
            break
        distances[wider & ~reached] = step
        reached = wider
    farthest = max(2.0, float(distances[np.isfinite(distances)].max()))
    return np.where(np.isfinite(distances), distances, farthest * MIN_SEPARATION)


def _majorise(placed: Floats, distances: Floats) -> Floats:
    """Return the points after rounds that each reduce the weighted error of their distances."""
    if len(placed) == 1:
        return placed
    weights = np.where(distances > 0, 1 / np.maximum(distances, 1e-9) ** 2, 0.0)
    wanted = weights * distances
    sums = weights.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        pull = wanted / _pairwise_lengths(placed)
        placed = (weights @ placed + pull.sum(axis=1, keepdims=True) * placed - pull @ placed) / sums
    return placed


def _pairwise_lengths(placed: Floats) -> Floats:
    """Return the distances between all points, never exactly 0."""
    squares = (placed**2).sum(axis=1)
    lengths: Floats = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * placed @ placed.T, 1e-12))
    return lengths


def _pull_in_stragglers(placed: Floats) -> Floats:
    """Return the points with distant ones pulled in, so that a few outliers do not squeeze all others together."""
    away = placed - placed.mean(axis=0)
    radius = np.sqrt((away**2).sum(axis=1, keepdims=True))
    drawn: Floats = away / np.maximum(radius, 1e-9) * radius**MAX_DISTANCE_SHARE
    return drawn


def _fit_to_box(placed: Floats, width: float, height: float) -> Floats:
    """Return the points stretched to fill the box; in a direction without extent they are centred."""
    low, high = placed.min(axis=0), placed.max(axis=0)
    box = np.array([width, height])
    span = high - low
    scale = np.divide(box, span, out=np.zeros(2), where=span > FLAT)
    fitted: Floats = (placed - (low + high) / 2) * scale + box / 2
    return fitted


def _move_apart(placed: Floats, spacing: float) -> Floats | None:
    """Return the points, with overlapping ones each moved by half of the missing distance; None where none overlap."""
    gaps = placed[:, None, :] - placed[None, :, :]
    lengths = _pairwise_lengths(placed)
    np.fill_diagonal(lengths, np.inf)
    missing = np.maximum(spacing - lengths, 0)
    if not missing.any():
        return None
    moved: Floats = placed + (gaps / np.maximum(lengths, FLAT)[:, :, None] * missing[:, :, None]).sum(axis=1) / 2
    return moved
