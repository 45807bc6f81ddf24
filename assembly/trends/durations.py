"""How long things took, as counts of a few durations. Pure: percentiles are right to a tenth of themselves."""

from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate

GROWTH = 1.1
MOST_MS = 3_600_000


def _bounds() -> tuple[int, ...]:
    found = [1]
    while found[-1] < MOST_MS:
        found.append(max(found[-1] + 1, round(found[-1] * GROWTH)))
    return tuple(found)


BOUNDS = _bounds()
"""Milliseconds: a duration counts under the first of these that it does not exceed, one beyond all under the last."""


def bound_of(ms: int) -> int:
    """The milliseconds under which a duration is counted."""
    return BOUNDS[min(bisect_left(BOUNDS, ms), len(BOUNDS) - 1)]


def percentile(counts: Mapping[int, int], share: float) -> int | None:
    """Milliseconds that a share of the durations, above 0 to 1, did not exceed; None where there are none."""
    if not counts:
        return None
    bounds = sorted(counts)
    reached = list(accumulate(counts[bound] for bound in bounds))
    return bounds[bisect_left(reached, share * reached[-1])]
