"""Durations as a few counts: percentiles are right to a tenth."""

import itertools
import math
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assembly.monitoring.trends.counting import BOUNDS, bound_of, percentile


def test_bounds_grow_by_a_tenth_at_most() -> None:
    assert BOUNDS[:4] == (1, 2, 3, 4)
    assert all(before < after <= max(before + 1, before * 1.1 + 1) for before, after in itertools.pairwise(BOUNDS))
    assert bound_of(0) == 1
    assert bound_of(10**9) == BOUNDS[-1]


def test_nothing_has_no_percentile() -> None:
    assert percentile({}, 0.5) is None


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=60), st.sampled_from([0.01, 0.5, 0.95, 1.0]))
def test_a_percentile_is_right_to_a_tenth(found: list[int], share: float) -> None:
    exact = sorted(found)[max(0, math.ceil(share * len(found)) - 1)]
    told = percentile(Counter(map(bound_of, found)), share)
    assert told is not None
    assert exact <= told <= max(1, exact * 1.1 + 1)
