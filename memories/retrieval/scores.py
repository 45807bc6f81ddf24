"""The scores by which rows rank."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

DECIMALS = 4
"""Of measures: enough to tell rows apart, and few enough to be read."""


def scores_of(measured: Mapping[str, NDArray[np.float64]], weights: Mapping[str, float]) -> NDArray[np.float64]:
    """The sum of weight x feature, per row; features without a weight count nothing."""
    scores = np.zeros(len(measured["similarity"]))
    for name, values in measured.items():
        scores += weights.get(name, 0.0) * values
    return scores
