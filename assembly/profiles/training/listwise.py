"""The listwise fit finds the weights that make the evidence of each list score highest.

The loss is the listwise softmax (ListNet's top-one loss, Cao et al. 2007) with an L2 penalty on the difference from
expected weights. It is convex, so Newton's method finds its one minimum.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MAX_STEPS = 50
TOLERANCE = 1e-10
"""The fit ends with a step that lowers the loss by less than this."""


class RowLists(NamedTuple):
    """The rows of all questions, the index at which the list of each question begins, and the weight of each list."""

    features: Numbers
    wanted: Numbers
    starts: NDArray[np.intp]
    counts: Numbers

    def sums(self, values: Numbers) -> Numbers:
        sums: Numbers = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def summed(self, shares: Sequence[float]) -> "RowLists":
        """Return lists with one feature per column: the sum of the features with these weights."""
        halves = [half @ np.array(shares) for half in np.split(self.features, 2, axis=1)]
        return self._replace(features=np.stack(halves, axis=1))

    def spread(self, values: Numbers) -> Numbers:
        """Return the value of its list for each row."""
        return np.repeat(values, np.diff([*self.starts, len(self.wanted)]), axis=0)


class Penalty(NamedTuple):
    """The cost of weights that differ from the expected ones."""

    expected: Numbers
    strength: Numbers

    def cost(self, weights: Numbers) -> float:
        return float(self.strength @ (weights - self.expected) ** 2) / 2


def minimise_loss(lists: RowLists, penalty: Penalty) -> Numbers:
    """Return the weights with the lowest loss."""
    weights = penalty.expected
    loss, chances = _loss(lists, weights, penalty)
    for _ in range(MAX_STEPS):
        step, size = _newton_step(lists, weights, chances, penalty), 1.0
        while (tried := _loss(lists, weights - size * step, penalty))[0] > loss and size > TOLERANCE:
            size /= 2
        gained, weights, (loss, chances) = loss - tried[0], weights - size * step, tried
        if gained < TOLERANCE:
            break
    return weights


def _loss(lists: RowLists, weights: Numbers, penalty: Penalty) -> tuple[float, Numbers]:
    """Return the mean loss of a question, and the probability of each row."""
    scores: Numbers = lists.features @ weights
    scores -= lists.spread(np.maximum.reduceat(scores, lists.starts))
    total = lists.spread(lists.sums(np.exp(scores)))
    fit = lists.spread(lists.counts) * lists.wanted @ (scores - np.log(total))
    return penalty.cost(weights) - float(fit), np.exp(scores) / total


def _newton_step(lists: RowLists, weights: Numbers, chances: Numbers, penalty: Penalty) -> Numbers:
    counts = lists.spread(lists.counts)
    gradient = (counts * (chances - lists.wanted)) @ lists.features
    gradient += penalty.strength * (weights - penalty.expected)
    weighed = chances[:, None] * lists.features
    means = lists.sums(weighed)
    curvature = lists.features.T @ (counts[:, None] * weighed) - means.T @ (lists.counts[:, None] * means)
    return np.linalg.solve(curvature + np.diag(penalty.strength), gradient).astype(float)
