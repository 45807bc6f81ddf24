"""Fitting a linear ranker: the listwise softmax (ListNet's top-one loss, Cao et al. 2007) with an L2 penalty.

For each question, the scores of its rows are turned into chances by softmax, and the chances of the evidence are made
as large as they get. The loss is convex, so Newton's method finds its one minimum: the same weights every time.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assembly.training.labelled import Labelled

Numbers = NDArray[np.float64]

PENALTY = 1e-3
MAX_STEPS = 50
ENOUGH = 1e-10
"""A step that lowers the loss by less is the last."""


class _Lists(NamedTuple):
    """All questions' rows one below the other: features, the chance that each should have, where lists begin."""

    features: Numbers
    wanted: Numbers
    starts: NDArray[np.intp]

    def sums(self, values: Numbers) -> Numbers:
        sums: Numbers = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def spread(self, values: Numbers) -> Numbers:
        """One value per list, for each of its rows."""
        return np.repeat(values, np.diff([*self.starts, len(self.wanted)]), axis=0)


def fitted(questions: Sequence[Labelled], names: Sequence[str]) -> dict[str, float]:
    """The weight of each of the named features."""
    lists = _lists(questions, names)
    weights = np.zeros(len(names))
    loss, chances = _loss(lists, weights)
    for _ in range(MAX_STEPS):
        step, size = _newton_step(lists, weights, chances), 1.0
        while (tried := _loss(lists, weights - size * step))[0] > loss and size > ENOUGH:
            size /= 2
        gained, weights, (loss, chances) = loss - tried[0], weights - size * step, tried
        if gained < ENOUGH:
            break
    return dict(zip(names, weights.tolist(), strict=True))


def _lists(questions: Sequence[Labelled], names: Sequence[str]) -> _Lists:
    features = [np.stack([asked.measures[name] for name in names], axis=1) for asked in questions]
    wanted = []
    for asked, rows in zip(questions, features, strict=True):
        wanted.append(np.zeros(len(rows)))
        wanted[-1][asked.evidence] = 1 / len(asked.evidence)
    starts = np.cumsum([0, *(len(rows) for rows in features[:-1])])
    return _Lists(np.concatenate(features), np.concatenate(wanted), starts)


def _loss(lists: _Lists, weights: Numbers) -> tuple[float, Numbers]:
    """The mean loss of a question, and the chance of each row."""
    scores: Numbers = lists.features @ weights
    scores -= lists.spread(np.maximum.reduceat(scores, lists.starts))
    total = lists.spread(lists.sums(np.exp(scores)))
    loss = -(lists.wanted @ (scores - np.log(total))) / len(lists.starts) + PENALTY / 2 * weights @ weights
    return float(loss), np.exp(scores) / total


def _newton_step(lists: _Lists, weights: Numbers, chances: Numbers) -> Numbers:
    gradient = (chances - lists.wanted) @ lists.features / len(lists.starts) + PENALTY * weights
    weighed = chances[:, None] * lists.features
    means = lists.sums(weighed)
    curvature = (lists.features.T @ weighed - means.T @ means) / len(lists.starts)
    return np.linalg.solve(curvature + PENALTY * np.eye(len(weights)), gradient).astype(float)
