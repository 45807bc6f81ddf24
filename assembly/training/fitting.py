"""Fitting a ranker: the listwise softmax (ListNet's top-one loss, Cao et al. 2007) with an L2 penalty.

For each question, the scores of its rows are turned into chances by softmax, and the chances of the evidence are made
as large as they get. Each kind of text counts the same, however many questions it has. Weights come in two columns,
for long and for brief texts; the brevity of a row's owner says how much each of them counts. The loss is convex, so
Newton's method finds its one minimum: the same weights every time.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assembly.training.labelled import Labelled
from memories.retrieval import BREVITY, Weights

Numbers = NDArray[np.float64]

PENALTY = 1e-3
MAX_STEPS = 50
ENOUGH = 1e-10
"""A step that lowers the loss by less is the last."""


class _Lists(NamedTuple):
    """All questions' rows one below the other, where the list of each question begins, and how much it counts."""

    features: Numbers
    wanted: Numbers
    starts: NDArray[np.intp]
    counts: Numbers

    def sums(self, values: Numbers) -> Numbers:
        sums: Numbers = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def spread(self, values: Numbers) -> Numbers:
        """One value per list, for each of its rows."""
        return np.repeat(values, np.diff([*self.starts, len(self.wanted)]), axis=0)


def fitted(questions: Sequence[Labelled], names: Sequence[str]) -> Weights:
    """Return the weight of each of the named features, for long and for brief texts."""
    lists = _lists(questions, names)
    weights = np.zeros(2 * len(names))
    loss, chances = _loss(lists, weights)
    for _ in range(MAX_STEPS):
        step, size = _newton_step(lists, weights, chances), 1.0
        while (tried := _loss(lists, weights - size * step))[0] > loss and size > ENOUGH:
            size /= 2
        gained, weights, (loss, chances) = loss - tried[0], weights - size * step, tried
        if gained < ENOUGH:
            break
    long, brief = (dict(zip(names, half, strict=True)) for half in np.split(weights, 2))
    return Weights(long, brief)


def _lists(questions: Sequence[Labelled], names: Sequence[str]) -> _Lists:
    features, wanted = [], []
    for question in questions:
        measured = np.stack([question.measures[name] for name in names], axis=1)
        brevity = question.measures[BREVITY][:, None]
        features.append(np.hstack([(1 - brevity) * measured, brevity * measured]))
        wanted.append(np.zeros(len(measured)))
        wanted[-1][question.evidence] = 1 / len(question.evidence)
    starts = np.cumsum([0, *(len(rows) for rows in features[:-1])])
    of_kind = Counter(question.kind for question in questions)
    counts = np.array([1 / (len(of_kind) * of_kind[question.kind]) for question in questions])
    return _Lists(np.concatenate(features), np.concatenate(wanted), starts, counts)


def _loss(lists: _Lists, weights: Numbers) -> tuple[float, Numbers]:
    """Return the mean loss of a question, and the chance of each row."""
    scores: Numbers = lists.features @ weights
    scores -= lists.spread(np.maximum.reduceat(scores, lists.starts))
    total = lists.spread(lists.sums(np.exp(scores)))
    fit = lists.spread(lists.counts) * lists.wanted @ (scores - np.log(total))
    return float(PENALTY / 2 * weights @ weights - fit), np.exp(scores) / total


def _newton_step(lists: _Lists, weights: Numbers, chances: Numbers) -> Numbers:
    counts = lists.spread(lists.counts)
    gradient = (counts * (chances - lists.wanted)) @ lists.features + PENALTY * weights
    weighed = chances[:, None] * lists.features
    means = lists.sums(weighed)
    curvature = lists.features.T @ (counts[:, None] * weighed) - means.T @ (lists.counts[:, None] * means)
    return np.linalg.solve(curvature + PENALTY * np.eye(len(weights)), gradient).astype(float)
