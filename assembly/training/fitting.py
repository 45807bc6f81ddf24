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

SIMPLE = ("similarity_z", "words_z")
"""Fitted first, alone: what little data says of the others is held against these two."""
PENALTY = 1e-3
FORM = ("relative_length", "asks", "after_question")
"""What the form of a text tells differs most between kinds of long texts, and so does what its day tells."""
LONG_FORM, LONG_CONTEXT, LONG_CUE = 0.3, 0.1, 0.01
"""L2 penalties of weights for long texts: of form and day, of meaning and words around, of labels and dates."""
PENALTIES = f"L2 penalty {PENALTY}; for long texts, {LONG_FORM} on form and day, {LONG_CONTEXT} on what is around"
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


class _Penalty(NamedTuple):
    """How much it costs that weights are others than expected."""

    expected: Numbers
    strength: Numbers

    def cost(self, weights: Numbers) -> float:
        return float(self.strength @ (weights - self.expected) ** 2) / 2


def fitted(questions: Sequence[Labelled], names: Sequence[str]) -> Weights:
    """Return the weight of each of the named features, for long and for brief texts.

    Similarity and words are fitted alone first; the other features then change what these say as far as the data of
    all kinds agrees on it. So a kind of text that was not trained on is ranked no worse than by these two.
    """
    simple = [name for name in names if name in SIMPLE]
    alone = _fit(_lists(questions, simple), _Penalty(np.zeros(2 * len(simple)), np.full(2 * len(simple), PENALTY)))
    known = dict(zip([(half, name) for half in range(2) for name in simple], alone, strict=True))
    expected = np.array([known.get((half, name), 0.0) for half in range(2) for name in names])
    strength = np.array([*map(_long_penalty, names), *(PENALTY for _ in names)])
    weights = _fit(_lists(questions, names), _Penalty(expected, strength))
    long, brief = (dict(zip(names, half.tolist(), strict=True)) for half in np.split(weights, 2))
    return Weights(long, brief)


def _long_penalty(name: str) -> float:
    if name in SIMPLE:
        return PENALTY
    if name in FORM or name.endswith("_of_day_z"):
        return LONG_FORM
    return LONG_CONTEXT if name.endswith("_z") else LONG_CUE


def _fit(lists: _Lists, penalty: _Penalty) -> Numbers:
    weights = penalty.expected
    loss, chances = _loss(lists, weights, penalty)
    for _ in range(MAX_STEPS):
        step, size = _newton_step(lists, weights, chances, penalty), 1.0
        while (tried := _loss(lists, weights - size * step, penalty))[0] > loss and size > ENOUGH:
            size /= 2
        gained, weights, (loss, chances) = loss - tried[0], weights - size * step, tried
        if gained < ENOUGH:
            break
    return weights


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


def _loss(lists: _Lists, weights: Numbers, penalty: _Penalty) -> tuple[float, Numbers]:
    """Return the mean loss of a question, and the chance of each row."""
    scores: Numbers = lists.features @ weights
    scores -= lists.spread(np.maximum.reduceat(scores, lists.starts))
    total = lists.spread(lists.sums(np.exp(scores)))
    fit = lists.spread(lists.counts) * lists.wanted @ (scores - np.log(total))
    return penalty.cost(weights) - float(fit), np.exp(scores) / total


def _newton_step(lists: _Lists, weights: Numbers, chances: Numbers, penalty: _Penalty) -> Numbers:
    counts = lists.spread(lists.counts)
    gradient = (counts * (chances - lists.wanted)) @ lists.features
    gradient += penalty.strength * (weights - penalty.expected)
    weighed = chances[:, None] * lists.features
    means = lists.sums(weighed)
    curvature = lists.features.T @ (counts[:, None] * weighed) - means.T @ (lists.counts[:, None] * means)
    return np.linalg.solve(curvature + np.diag(penalty.strength), gradient).astype(float)
