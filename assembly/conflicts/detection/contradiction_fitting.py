"""This module fits the model that decides about conflicts, from pairs with labels and from whole corpora.

The texts of a corpus do not contradict each other, so all of its neighbours teach what is no conflict. It is unknown
which statements of two longer texts contradict each other: first those nearest in meaning are taken, then those that
the model fitted with them finds most probable.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assembly.conflicts.detection.classifier import BIAS, Label, is_possible_conflict
from assembly.conflicts.detection.comparison import compared_pairs, is_same_text
from assembly.conflicts.detection.contradiction import CONTRADICTION_FEATURES, contradiction_features
from assembly.conflicts.detection.features import Pair
from assembly.conflicts.detection.neighbours import Neighbours

Numbers = NDArray[np.float64]

PENALTY = 0.04
"""The L2 penalty of a standardised feature, for each conflict."""
CORPUS_WEIGHT = 0.5
"""A pair of statements of a corpus counts so much, against 1 for a pair with a label."""
REPEATED_WEIGHT = 2
"""Pairs in quite different words count so much."""
ROUNDS = 2
STEPS, TOLERANCE = 25, 1e-6
SPREAD = 0.01
"""Is added to the deviations of features, so that one that is nearly always the same has no large weight."""
DECIMALS = 4
NEAREST = CONTRADICTION_FEATURES.index("sentence_cosine")


class Example(NamedTuple):
    """The features of the pairs of statements of two texts that have a cue, and whether the texts conflict."""

    rows: Numbers
    """A row for each pair of statements."""
    is_conflict: bool
    weight: float


class Corpus(NamedTuple):
    """The rows of each pair of neighbours that has a cue, and the number of texts."""

    rows: Sequence[Numbers]
    size: int
    are_long: Sequence[bool]
    """For each pair of neighbours, whether several pairs of statements of them are compared."""


def conflict_rows(left: str, right: str, similarity: float) -> Numbers:
    """Return a row of features for each pair of statements of two texts with this cosine that has a cue."""
    return _rows_of(_cued_pairs(left, right, similarity))


def _cued_pairs(left: str, right: str, similarity: float) -> list[Pair]:
    if is_same_text(left, right):
        return []
    return [pair for pair in compared_pairs(left, right, similarity) if is_possible_conflict(pair)]


def _rows_of(pairs: Sequence[Pair]) -> Numbers:
    found = [[features[name] for name in CONTRADICTION_FEATURES] for features in map(contradiction_features, pairs)]
    return np.array(found).reshape(len(pairs), len(CONTRADICTION_FEATURES))


def example(left: str, right: str, similarity: float, label: Label, weight: float) -> Example:
    """Return what two texts with a label teach."""
    return Example(conflict_rows(left, right, similarity), label == "conflict", weight)


def corpus_of(neighbours: Sequence[Neighbours], size: int) -> Corpus:
    """Return what the neighbours of a corpus of `size` texts teach."""
    found = [cued for one in neighbours if (cued := _cued_pairs(one.left, one.right, one.similarity))]
    return Corpus(
        [_rows_of(pairs) for pairs in found], size, [any(pair.place == "texts" for pair in pairs) for pairs in found]
    )


def fit_contradiction(examples: Sequence[Example], corpora: Sequence[Corpus]) -> dict[str, float]:
    """Return the weights by features; without a conflict among the examples, those that find none."""
    conflicts = [one for one in examples if one.is_conflict and len(one.rows)]
    others = [one for one in examples if not one.is_conflict and len(one.rows)]
    negative = [one.rows for one in others] + [rows for corpus in corpora for rows in corpus.rows]
    if not conflicts or not negative:
        return dict.fromkeys(CONTRADICTION_FEATURES, 0.0) | {BIAS: -100.0 if not conflicts else 0.0}
    weights = [one.weight for one in conflicts]
    penalty = PENALTY * sum(weights)
    for one in others:
        weights += [one.weight / len(one.rows)] * len(one.rows)
    weights += [CORPUS_WEIGHT] * sum(len(rows) for corpus in corpora for rows in corpus.rows)
    chosen = [one.rows[one.rows[:, NEAREST].argmax()] for one in conflicts]
    wanted = np.array([1.0] * len(conflicts) + [0.0] * sum(map(len, negative)))
    for _ in range(ROUNDS):
        fitted, bias = _fit(np.vstack([np.array(chosen), *negative]), wanted, np.array(weights), penalty)
        chosen = [one.rows[(one.rows @ fitted).argmax()] for one in conflicts]
    named = zip(CONTRADICTION_FEATURES, fitted.tolist(), strict=True)
    return {name: round(weight, DECIMALS) for name, weight in named} | {BIAS: round(bias, DECIMALS)}


def chance_of(weights: Mapping[str, float], rows: Numbers) -> float:
    """Return the probability, 0 to 1, that one of the pairs of statements is a contradiction."""
    if not len(rows):
        return 0.0
    scores = rows @ np.array([weights[name] for name in CONTRADICTION_FEATURES]) + weights[BIAS]
    return float(1 / (1 + np.exp(-np.clip(scores.max(), -500, 500))))


def least_probabilities(
    examples: Sequence[Example], corpora: Sequence[Corpus], *, false_per_1000: float
) -> tuple[float, float]:
    """Return from which probabilities so many pairs per 1,000 texts of the corpora are called conflicts, or fewer.

    The first one is that of short texts, of which one pair of statements is compared, the second that of long ones.
    Each corpus is left out in turn: what is found in it is found without having seen it.
    """
    found: tuple[list[float], list[float]] = ([], [])
    for place, corpus in enumerate(corpora):
        weights = fit_contradiction(examples, [*corpora[:place], *corpora[place + 1 :]])
        for rows, is_long in zip(corpus.rows, corpus.are_long, strict=True):
            found[is_long].append(chance_of(weights, rows))
    most = int(false_per_1000 * sum(corpus.size for corpus in corpora) / 1_000)
    return _exceeded_by(most, found[0]), _exceeded_by(most, found[1])


def _exceeded_by(most: int, chances: Sequence[float]) -> float:
    """Return the least probability that at most so many of the chances reach, but at least .5."""
    highest = sorted(chances, reverse=True)[: most + 1]
    return round(min(1.0, max(0.5, highest[most] + 0.001)), 3) if len(highest) > most else 0.5


def _fit(features: Numbers, wanted: Numbers, weights: Numbers, penalty: float) -> tuple[Numbers, float]:
    """Return the weights and the bias of a logistic model of features as they are, fitted with standardised ones."""
    mean, deviation = features.mean(axis=0), features.std(axis=0) + SPREAD
    standard = np.c_[(features - mean) / deviation, np.ones(len(features))]
    strength = np.full(standard.shape[1], penalty)
    strength[-1] = TOLERANCE
    found = np.zeros(standard.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(standard @ found, -30, 30)))
        gradient = standard.T @ (weights * (chances - wanted)) + strength * found
        spread = weights * chances * (1 - chances) + 1e-9
        step = np.linalg.solve((standard * spread[:, None]).T @ standard + np.diag(strength), gradient)
        found -= step
        if np.abs(step).max() < TOLERANCE:
            break
    fitted = found[:-1] / deviation
    return fitted, float(found[-1] - fitted @ mean)
