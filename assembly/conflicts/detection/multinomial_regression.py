"""Multinomial logistic regression with an L2 penalty, fitted by Newton's method with a line search."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

STEPS, TOLERANCE = 60, 1e-9


def fit_multinomial(features: Numbers, wanted: Numbers, penalty: float, weights: Numbers) -> Numbers:
    """Return weights of features x classes that make the wanted classes most probable (multinomial, L2).

    The last feature is the bias, whose penalty is a tenth.
    """
    size, classes = features.shape[1], wanted.shape[1]
    found = np.zeros((size, classes))
    strength = np.full(size, penalty)
    strength[-1] = penalty / 10
    loss, chances = _loss(features, wanted, weights, found, strength)
    for _ in range(STEPS):
        gradient = features.T @ (weights[:, None] * (chances - wanted)) + strength[:, None] * found
        step = np.linalg.solve(_curvature(features, weights, chances, strength), gradient.T.ravel())
        direction, length = step.reshape(classes, size).T, 1.0
        while (tried := _loss(features, wanted, weights, found - length * direction, strength))[
            0
        ] > loss and length > TOLERANCE:
            length /= 2
        gained, found, (loss, chances) = loss - tried[0], found - length * direction, tried
        if gained < TOLERANCE:
            break
    return found


def _loss(
    features: Numbers, wanted: Numbers, weights: Numbers, found: Numbers, strength: Numbers
) -> tuple[float, Numbers]:
    scores = features @ found
    scores -= scores.max(axis=1, keepdims=True)
    chances = np.exp(scores)
    chances /= chances.sum(axis=1, keepdims=True)
    likely = weights @ np.log(np.maximum((chances * wanted).sum(axis=1), 1e-300))
    return float(strength @ (found**2).sum(axis=1)) / 2 - float(likely), chances


def _curvature(features: Numbers, weights: Numbers, chances: Numbers, strength: Numbers) -> Numbers:
    size, classes = features.shape[1], chances.shape[1]
    curvature = np.zeros((classes * size, classes * size))
    for one in range(classes):
        for other in range(classes):
            share = weights * chances[:, one] * ((one == other) - chances[:, other])
            block = features.T @ (share[:, None] * features)
            if one == other:
                block += np.diag(strength)
            curvature[one * size : (one + 1) * size, other * size : (other + 1) * size] = block
    return curvature
