"""Fitting goes from labelled pairs to the file of the classifier.

Both models are fitted by Newton's method with an L2 penalty; the losses are convex, so the weights are the same every
time. Every label counts the same, however many pairs it has. The least probabilities of conflicts and duplicates are
chosen by cross-validation: the smallest ones at which the pairs left out reach the precision that is aimed at.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from assembly.conflicts.detection.classifier import (
    BIAS,
    LABELS,
    Classifier,
    Label,
    is_possible_conflict,
)
from assembly.conflicts.detection.comparison import statements_of_both
from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.duplicate_guards import is_possible_duplicate
from assembly.conflicts.detection.features import (
    LABEL_FEATURES,
    SUBJECT_FEATURES,
    Pair,
    label_features,
    subject_features,
)
from assembly.conflicts.detection.figures import Similarities, evaluate, figures_of
from assembly.conflicts.detection.labelled_pairs import LabelledPair

Numbers = NDArray[np.float64]
AnalysedPair = tuple[Pair, Label]

SAME_SUBJECT_LABELS = ("conflict", "duplicate", "refining", "evolving")
SUBJECT_PENALTY, LABEL_PENALTY = 0.002, 0.0005
FOLDS = 8
CONFLICT_PRECISION, FALSE_ALARMS, DUPLICATE_PRECISION = 0.95, 0.02, 0.99
"""What the pairs left out must reach, a little more than what is promised, as other texts are harder."""
LEAST_THRESHOLD = 0.55
METHOD = (
    f"logistic (subject) and multinomial (labels), Newton; L2 {SUBJECT_PENALTY} and {LABEL_PENALTY}; each label counts"
    f" the same; thresholds by cross-validation in {FOLDS} folds for a precision of {CONFLICT_PRECISION} of conflicts,"
    f" false alarms of {FALSE_ALARMS}, and a precision of {DUPLICATE_PRECISION} of duplicates"
)
STEPS, TOLERANCE = 60, 1e-9
DECIMALS = 3


def analysed_pairs(pairs: Sequence[LabelledPair], similarities: Similarities) -> list[AnalysedPair]:
    """Return the pairs of single statements, analysed; longer texts teach nothing, as it is unknown which of theirs."""
    found = []
    for pair, cosine in zip(pairs, similarities(pairs), strict=True):
        left, right = statements_of_both(pair.left, pair.right)
        if len(left) == len(right) == 1:
            found.append((Pair(left[0], right[0], find_cues(left[0], right[0]), cosine), pair.label))
    return found


def fit_classifier(pairs: Sequence[AnalysedPair], thresholds: tuple[float, float] = (0.5, 0.5)) -> Classifier:
    """Return the classifier that the pairs teach, with the given least probabilities of conflicts and duplicates."""
    labels = [label for _, label in pairs]
    of_subject = [subject_features(pair) for pair, _ in pairs]
    wanted = np.array(
        [[float(label not in SAME_SUBJECT_LABELS), float(label in SAME_SUBJECT_LABELS)] for label in labels]
    )
    fitted = _fit(_matrix(of_subject, SUBJECT_FEATURES), wanted, SUBJECT_PENALTY, _weights(labels))
    subject_weights = _named(fitted[:, 1] - fitted[:, 0], SUBJECT_FEATURES)
    classifier = Classifier(subject_weights, {}, *thresholds)
    features = [
        label_features(pair, classifier.subject_of(mine), mine)
        for (pair, _), mine in zip(pairs, of_subject, strict=True)
    ]
    wanted = np.array([[float(label == one) for one in LABELS] for label in labels])
    columns = _fit(_matrix(features, LABEL_FEATURES), wanted, LABEL_PENALTY, _weights(labels)).T
    return Classifier(
        subject_weights,
        {label: _named(column, LABEL_FEATURES) for label, column in zip(LABELS, columns, strict=True)},
        *thresholds,
    )


def choose_thresholds(pairs: Sequence[AnalysedPair]) -> tuple[float, float]:
    """Return the least probabilities of conflicts and of duplicates, chosen by cross-validation."""
    conflicts: list[tuple[float, Label]] = []
    duplicates: list[tuple[float, Label]] = []
    for train, test in _folds(pairs):
        classifier = fit_classifier(train)
        for pair, label in test:
            of_subject = subject_features(pair)
            chances = classifier.probabilities(label_features(pair, classifier.subject_of(of_subject), of_subject))
            conflicts.append((chances["conflict"] if is_possible_conflict(pair) else 0.0, label))
            duplicates.append((chances["duplicate"] if is_possible_duplicate(pair) else 0.0, label))
    return (
        _least_threshold(conflicts, "conflict", CONFLICT_PRECISION, FALSE_ALARMS),
        _least_threshold(duplicates, "duplicate", DUPLICATE_PRECISION, 1.0),
    )


def _folds(pairs: Sequence[AnalysedPair]) -> Iterator[tuple[list[AnalysedPair], list[AnalysedPair]]]:
    for fold in range(FOLDS):
        train = [pair for place, pair in enumerate(pairs) if place % FOLDS != fold]
        yield train, [pair for place, pair in enumerate(pairs) if place % FOLDS == fold]


def _least_threshold(chances: Sequence[tuple[float, Label]], wanted: Label, precision: float, alarms: float) -> float:
    agreeing = sum(label in ("duplicate", "refining", "similar") for _, label in chances)
    best = 1.0
    for threshold in sorted({round(chance, 2) for chance, _ in chances if chance >= LEAST_THRESHOLD}, reverse=True):
        called = [label for chance, label in chances if chance >= threshold]
        false = sum(label in ("duplicate", "refining", "similar") for label in called)
        if (
            called
            and called.count(wanted) / len(called) >= precision
            and (wanted == "duplicate" or false <= alarms * agreeing)
        ):
            best = threshold
    return best


def classifier_text(
    train: Mapping[str, Sequence[LabelledPair]],
    test: Mapping[str, Sequence[LabelledPair]],
    similarities: Similarities,
    *,
    name: str,
    version: int,
) -> str:
    """Return the classifier that the pairs to `train` teach, as its YAML file, with its figures for those to `test`.

    Both are given by the names of their files.
    """
    analysed = analysed_pairs([pair for pairs in train.values() for pair in pairs], similarities)
    thresholds = choose_thresholds(analysed)
    classifier = fit_classifier(analysed, thresholds)
    figures = {
        source: {
            key: round(value, DECIMALS) for key, value in figures_of(evaluate(pairs, similarities, classifier)).items()
        }
        for source, pairs in test.items()
    }
    facts: dict[str, Any] = {
        "name": name,
        "version": version,
        "trained": {source: f"{len(pairs)} pairs" for source, pairs in train.items()},
        "method": METHOD,
        "figures": figures,
        "thresholds": {"conflict": thresholds[0], "duplicate": thresholds[1]},
        "subject": dict(classifier.subject_weights),
        "labels": {label: dict(weights) for label, weights in classifier.label_weights.items()},
    }
    return yaml.safe_dump(facts, sort_keys=False, width=110)


def _matrix(features: Sequence[Mapping[str, float]], names: Sequence[str]) -> Numbers:
    """Return a row per pair, whose last column is the bias."""
    return np.array([[*(mine[name] for name in names), 1.0] for mine in features])


def _weights(labels: Sequence[Label]) -> Numbers:
    """Return the weight of each pair, so that each label has the same sum."""
    counts = Counter(labels)
    return np.array([1 / (len(counts) * counts[label]) for label in labels])


def _fit(features: Numbers, wanted: Numbers, penalty: float, weights: Numbers) -> Numbers:
    """Return weights of features x classes that make the wanted classes most probable (multinomial, L2)."""
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


def _named(weights: Numbers, names: Sequence[str]) -> dict[str, float]:
    return {name: round(float(weight), DECIMALS) for name, weight in zip([*names, BIAS], weights, strict=True)}
