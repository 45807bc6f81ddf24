"""The scores by which rows rank: sums of weighed features, by weights that suit the length of an owner's texts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DECIMALS = 4
"""Of measures: enough to tell rows apart, and few enough to be read."""


BREVITY = "brevity"
"""The measure that blends the two columns of weights: the same for all rows of an owner."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Two columns of weights by feature: one for owners of long texts, one for owners of brief ones.

    Short turns of a conversation and whole pages differ in what tells that a text is wanted: one column cannot serve
    both. Features that `brief` does not name have no weight for brief texts; without `brief`, `long` serves all texts.
    """

    long: Mapping[str, float]
    brief: Mapping[str, float] | None = None

    def at(self, brevity: float) -> Mapping[str, float]:
        """The weights for an owner whose texts are so brief, 0 to 1."""
        if self.brief is None:
            return self.long
        names = dict.fromkeys((*self.long, *self.brief))
        return {name: (1 - brevity) * self.long.get(name, 0.0) + brevity * self.brief.get(name, 0.0) for name in names}


def scores_of(measured: Mapping[str, NDArray[np.float64]], weights: Weights) -> NDArray[np.float64]:
    """The sum of weight x feature, per row; features without a weight count nothing."""
    scores = np.zeros(len(measured[BREVITY]))
    if not len(scores):
        return scores
    by_name = weights.at(float(measured[BREVITY][0]))
    for name, values in measured.items():
        scores += by_name.get(name, 0.0) * values
    return scores
