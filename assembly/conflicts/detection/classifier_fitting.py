"""Fitting goes from labelled pairs to the file of the classifier.

Both models are fitted by Newton's method with an L2 penalty; the losses are convex, so the weights are the same every
time. Every label counts the same, however many pairs it has. The least probabilities of conflicts and duplicates are
chosen by cross-validation: the smallest ones at which the pairs left out reach the precision that is aimed at. For
conflicts all pairs of a writer are left out at once.
"""

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from assembly.conflicts.detection.classifier import (
    BIAS,
    LABELS,
    Classifier,
    Label,
)
from assembly.conflicts.detection.comparison import clause_pairs, sentence_cosine, statements_of_both
from assembly.conflicts.detection.cues import find_cues
from assembly.conflicts.detection.duplicate_guards import is_possible_duplicate
from assembly.conflicts.detection.features import (
    LABEL_FEATURES,
    SUBJECT_FEATURES,
    Pair,
    label_features,
    subject_features,
)
from assembly.conflicts.detection.figures import AGREEING, Similarities, evaluate, figures_of
from assembly.conflicts.detection.labelled_pairs import LabelledPair
from assembly.conflicts.detection.statement import Statement

Numbers = NDArray[np.float64]
AnalysedPair = tuple[Pair, Label]

SAME_SUBJECT_LABELS = ("conflict", "duplicate", "refining", "evolving")
SUBJECT_PENALTY, LABEL_PENALTY = 0.002, 0.0005
FOLDS = 5
CONFLICT_PRECISION, FALSE_ALARMS, DUPLICATE_PRECISION = 0.9, 0.05, 0.99
"""This is what the pairs left out must reach, a little more than what is promised."""
LEAST_THRESHOLD, LEAST_CHANCE = 0.45, 0.01
REPETITIONS = 3
"""How often pairs in quite different words count: they are few, and what people write is like them."""
METHOD = (
    f"logistic (subject) and multinomial (labels), Newton; L2 {SUBJECT_PENALTY} and {LABEL_PENALTY}; each label counts"
    f" the same; threshold of conflicts by leaving out each writer, for a precision of {CONFLICT_PRECISION} and false"
    f" alarms of {FALSE_ALARMS}; that of duplicates in {FOLDS} folds, for a precision of {DUPLICATE_PRECISION}"
)
STEPS, TOLERANCE = 60, 1e-9
DECIMALS = 3


def analysed_pairs(pairs: Sequence[LabelledPair], similarities: Similarities) -> list[AnalysedPair]:
    """Return the pairs of statements, analysed.

    Of longer texts, and of the clauses of sentences, it is unknown which pair made the label. Those of texts that do
    not conflict do not conflict either, so the one with most in common teaches that; of conflicts only single
    statements are taken.
    """
    found = []
    for pair, cosine in zip(pairs, similarities(pairs), strict=True):
        left, right = statements_of_both(pair.left, pair.right)
        if len(left) == len(right) == 1:
            found.append((Pair(left[0], right[0], find_cues(left[0], right[0]), cosine), pair.label))
        elif left and right and pair.label in ("conflict", "similar"):
            best = _nearest_with_cue(left, right)
            if best:
                found.append((best, pair.label))
        if pair.label in ("similar", "duplicate", "refining", "unrelated"):
            cued = [one for one in clause_pairs(left, right) if one.cues.differences]
            found += [(one, "similar" if pair.label == "duplicate" else pair.label) for one in cued[:1]]
    return found


def _nearest_with_cue(left: Sequence[Statement], right: Sequence[Statement]) -> Pair | None:
    """Return the pair of statements with a cue whose words are nearest; None if no pair has a cue."""
    pairs = [
        Pair(mine, theirs, find_cues(mine, theirs), sentence_cosine(mine.text, theirs.text))
        for mine in left
        for theirs in right
        if not mine.words.isdisjoint(theirs.words)
    ]
    return max((pair for pair in pairs if pair.cues.differences), key=lambda pair: pair.cosine, default=None)


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


class Chance(NamedTuple):
    """The probability of a label for a pair that was left out, the label that it has, and how much it counts."""

    value: float
    label: Label
    weight: float = 1.0


def choose_duplicate_threshold(pairs: Sequence[AnalysedPair]) -> float:
    """Return the least probability of duplicates, chosen by cross-validation."""
    chances: list[Chance] = []
    for fold in range(FOLDS):
        classifier = fit_classifier([pair for place, pair in enumerate(pairs) if place % FOLDS != fold])
        for pair, label in pairs[fold::FOLDS]:
            of_subject = subject_features(pair)
            found = classifier.probabilities(label_features(pair, classifier.subject_of(of_subject), of_subject))
            chances.append(Chance(found["duplicate"] if is_possible_duplicate(pair) else 0.0, label))
    return _least_threshold(chances, "duplicate", DUPLICATE_PRECISION, 1.0)


def _least_threshold(chances: Sequence[Chance], wanted: Label, precision: float, alarms: float) -> float:
    """Return the least probability at which the share of those called so is right, 1 if there is none.

    `precision` is that share, 0 to 1, and `alarms` the most of the agreeing pairs that may be called so.
    """
    agreeing = math.fsum(one.weight for one in chances if one.label in AGREEING)
    best = 1.0
    for threshold in sorted({round(one.value, 2) for one in chances if one.value >= LEAST_THRESHOLD}, reverse=True):
        called = [one for one in chances if one.value >= threshold]
        right = math.fsum(one.weight for one in called if one.label == wanted)
        false = math.fsum(one.weight for one in called if one.label in AGREEING)
        is_precise = bool(called) and right >= precision * math.fsum(one.weight for one in called)
        if is_precise and (wanted == "duplicate" or false <= alarms * agreeing):
            best = threshold
    return best


def conflict_chances(classifier: Classifier, pairs: Sequence[LabelledPair], similarities: Similarities) -> list[Chance]:
    """Return the probability of a conflict, 0 without a cue, and the label of each pair; together they weigh 1."""
    willing = replace(classifier, conflict_threshold=LEAST_CHANCE)
    outcomes = evaluate(pairs, similarities, willing)
    weight = 1 / len(pairs)
    return [
        Chance(one.found.probability if one.found.label == "conflict" else 0.0, one.pair.label, weight)
        for one in outcomes
    ]


class Writer(NamedTuple):
    """Pairs of one writer, or a part of them, which a classifier is tested with that was fitted without them."""

    pairs: Sequence[LabelledPair]
    times: int
    """How often each of the pairs counts."""


class Trained(NamedTuple):
    """A fitted classifier, and by each writer the figures of one that was fitted without any pair of that writer."""

    classifier: Classifier
    without_the_writer: Mapping[str, Mapping[str, float]]


def train_classifier(
    files: Mapping[str, Sequence[LabelledPair]],
    repeated: Collection[str],
    similarities: Similarities,
) -> Trained:
    """Return the classifier that the files teach; the pairs of the repeated ones count REPETITIONS times.

    The least probability of conflicts is chosen by leaving out one writer after the other, because others than the
    writers will use it; each of them counts the same. Whole texts are compared for it, so that a text with many
    statements gives no more false alarms.
    """
    writers = _writers(files, repeated)
    analysed = {name: analysed_pairs(writer.pairs, similarities) for name, writer in writers.items()}
    chances: list[Chance] = []
    without: dict[str, Classifier] = {}
    for name, writer in writers.items():
        if any(pair.label == "conflict" for pair in writer.pairs):
            others = [pair for other in writers if other != name for pair in analysed[other] * writers[other].times]
            without[name] = fit_classifier(others)
            chances += conflict_chances(without[name], writer.pairs, similarities)
    thresholds = (
        _least_threshold(chances, "conflict", CONFLICT_PRECISION, FALSE_ALARMS),
        choose_duplicate_threshold([pair for pairs in analysed.values() for pair in pairs]),
    )
    figures: dict[str, Mapping[str, float]] = {}
    for name, fitted in without.items():
        final = replace(fitted, conflict_threshold=thresholds[0], duplicate_threshold=thresholds[1])
        figures[name] = _rounded(figures_of(evaluate(writers[name].pairs, similarities, final)))
    taught = [pair for name, writer in writers.items() for pair in analysed[name] * writer.times]
    return Trained(fit_classifier(taught, thresholds), figures)


def _writers(files: Mapping[str, Sequence[LabelledPair]], repeated: Collection[str]) -> dict[str, Writer]:
    """Return the pairs by their writers, who are the files where these name none; of one writer, in FOLDS parts."""
    found: dict[str, list[LabelledPair]] = {}
    times: dict[str, int] = {}
    for name, pairs in files.items():
        for pair in pairs:
            writer = f"{name}, {pair.writer} writer" if pair.writer else name
            found.setdefault(writer, []).append(pair)
            times[writer] = REPETITIONS if name in repeated else 1
    if len(found) == 1:
        [(writer, pairs)] = found.items()
        mixed = random.Random(FOLDS).sample(pairs, len(pairs))  # noqa: S311 - the same parts every time
        return {f"{writer}, part {fold + 1}": Writer(mixed[fold::FOLDS], times[writer]) for fold in range(FOLDS)}
    return {writer: Writer(pairs, times[writer]) for writer, pairs in found.items()}


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {key: round(value, DECIMALS) for key, value in figures.items()}


def classifier_text(
    train: Mapping[str, Sequence[LabelledPair]],
    test: Mapping[str, Sequence[LabelledPair]],
    similarities: Similarities,
    *,
    repeated: Collection[str] = (),
    name: str,
    version: int,
) -> str:
    """Return the classifier that the pairs to `train` teach, as its YAML file, with its figures for those to `test`.

    Both are given by the names of their files.
    """
    trained = train_classifier(train, repeated, similarities)
    classifier = trained.classifier
    facts: dict[str, Any] = {
        "name": name,
        "version": version,
        "trained": {
            source: f"{len(pairs)} pairs" + (f", {REPETITIONS} times" if source in repeated else "")
            for source, pairs in train.items()
        },
        "method": METHOD,
        "figures": {
            source: _rounded(figures_of(evaluate(pairs, similarities, classifier))) for source, pairs in test.items()
        },
        "without_the_writer": {name: dict(figures) for name, figures in trained.without_the_writer.items()},
        "thresholds": {"conflict": classifier.conflict_threshold, "duplicate": classifier.duplicate_threshold},
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
