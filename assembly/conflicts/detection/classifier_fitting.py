"""Fitting goes from labelled pairs to the file of the classifier.

Both models are fitted by Newton's method with an L2 penalty; the losses are convex, so the weights are the same every
time. Every label counts the same, however many pairs it has. The model of conflicts is fitted by
`contradiction_fitting`. The least probability of duplicates is chosen by cross-validation: the smallest one at which
the pairs left out reach the precision that is aimed at. That of conflicts is chosen in the same way, with the pairs of
each writer left out, and by what is found in whole corpora, each of which is left out in turn; of long texts by these
alone.
"""

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import yaml

from assembly.conflicts.detection.classifier import (
    BIAS,
    LABELS,
    Classifier,
    Label,
)
from assembly.conflicts.detection.comparison import clause_pairs
from assembly.conflicts.detection.contradiction_fitting import (
    CORPUS_WEIGHT,
    PENALTY,
    REPEATED_WEIGHT,
    Example,
    corpus_of,
    example,
    fit_contradiction,
    least_probabilities,
)
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
from assembly.conflicts.detection.multinomial_regression import Numbers, fit_multinomial
from assembly.conflicts.detection.neighbours import Neighbours
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.text_statements import statements_of_both
from assembly.conflicts.detection.word_alignment import sentence_similarity

AnalysedPair = tuple[Pair, Label]

SAME_SUBJECT_LABELS = ("conflict", "duplicate", "refining", "evolving")
SUBJECT_PENALTY, LABEL_PENALTY = 0.002, 0.0005
FOLDS = 5
CONFLICT_PRECISION, FALSE_ALARMS, DUPLICATE_PRECISION = 0.9, 0.05, 0.99
"""This is what the pairs left out must reach, a little more than what is promised."""
LEAST_THRESHOLD, LEAST_CHANCE = 0.45, 0.01
REPETITIONS = 3
"""Pairs in quite different words count so often: they are few, and what people write is like them."""
FALSE_PER_1000 = 10.0
"""The most conflicts that may be found per 1,000 texts of a corpus in which no texts contradict each other."""
METHOD = (
    f"logistic (subject) and multinomial (labels), Newton; L2 {SUBJECT_PENALTY} and {LABEL_PENALTY}; each label counts"
    f" the same; threshold of duplicates in {FOLDS} folds, for a precision of {DUPLICATE_PRECISION}. Logistic"
    f" (contradiction), standardised features, L2 {PENALTY} per conflict; repeated pairs count {REPEATED_WEIGHT} times,"
    f" statements of corpora {CORPUS_WEIGHT} times; threshold of conflicts by leaving out each writer and corpus, for"
    f" {FALSE_PER_1000:g} conflicts per 1,000 texts"
)
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
            cued = [one for one in clause_pairs(left, right, cosine) if one.cues.differences]
            found += [(one, "similar" if pair.label == "duplicate" else pair.label) for one in cued[:1]]
    return found


def _nearest_with_cue(left: Sequence[Statement], right: Sequence[Statement]) -> Pair | None:
    """Return the pair of statements with a cue whose words are nearest; None if no pair has a cue."""
    pairs = [
        Pair(mine, theirs, find_cues(mine, theirs), sentence_similarity(mine.text, theirs.text))
        for mine in left
        for theirs in right
        if not mine.words.isdisjoint(theirs.words)
    ]
    return max((pair for pair in pairs if pair.cues.differences), key=lambda pair: pair.cosine, default=None)


def fit_classifier(
    pairs: Sequence[AnalysedPair],
    thresholds: tuple[float, float, float] = (0.5, 0.5, 0.5),
    contradiction_weights: Mapping[str, float] | None = None,
) -> Classifier:
    """Return the classifier that the pairs teach, with these least probabilities.

    They are those of conflicts, of duplicates, and of conflicts in long texts.
    """
    labels = [label for _, label in pairs]
    of_subject = [subject_features(pair) for pair, _ in pairs]
    wanted = np.array(
        [[float(label not in SAME_SUBJECT_LABELS), float(label in SAME_SUBJECT_LABELS)] for label in labels]
    )
    fitted = fit_multinomial(_matrix(of_subject, SUBJECT_FEATURES), wanted, SUBJECT_PENALTY, _weights(labels))
    subject_weights = _named(fitted[:, 1] - fitted[:, 0], SUBJECT_FEATURES)
    contradiction = dict(contradiction_weights or {BIAS: 0.0})
    classifier = Classifier(subject_weights, {}, contradiction, *thresholds)
    features = [
        label_features(pair, classifier.subject_of(mine), mine)
        for (pair, _), mine in zip(pairs, of_subject, strict=True)
    ]
    wanted = np.array([[float(label == one) for one in LABELS] for label in labels])
    columns = fit_multinomial(_matrix(features, LABEL_FEATURES), wanted, LABEL_PENALTY, _weights(labels)).T
    return Classifier(
        subject_weights,
        {label: _named(column, LABEL_FEATURES) for label, column in zip(LABELS, columns, strict=True)},
        contradiction,
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
    willing = replace(classifier, conflict_threshold=LEAST_CHANCE, long_text_threshold=LEAST_CHANCE)
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
    """Each of the pairs counts so often."""


class Trained(NamedTuple):
    """A fitted classifier, and by each writer the figures of one that was fitted without any pair of that writer."""

    classifier: Classifier
    without_the_writer: Mapping[str, Mapping[str, float]]


class UnrelatedTexts(NamedTuple):
    """The neighbours of a corpus in which no texts contradict each other, and the number of its texts."""

    neighbours: Sequence[Neighbours]
    size: int


def train_classifier(
    files: Mapping[str, Sequence[LabelledPair]],
    repeated: Collection[str],
    similarities: Similarities,
    unrelated: Mapping[str, UnrelatedTexts],
) -> Trained:
    """Return the classifier that the files and corpora teach; the pairs of the repeated ones count REPETITIONS times.

    The figures of each writer are those of a classifier that has not seen any pair of that writer, because others than
    the writers will use it. Whole texts are compared for them.
    """
    writers = _writers(files, repeated)
    analysed = {name: analysed_pairs(writer.pairs, similarities) for name, writer in writers.items()}
    examples = {name: _examples(writer, similarities) for name, writer in writers.items()}
    corpora = [corpus_of(*texts) for texts in unrelated.values()]
    without: dict[str, Classifier] = {}
    for name, writer in writers.items():
        if any(pair.label == "conflict" for pair in writer.pairs):
            others = [pair for other in writers if other != name for pair in analysed[other] * writers[other].times]
            taught = [one for other in writers if other != name for one in examples[other]]
            without[name] = fit_classifier(others, contradiction_weights=fit_contradiction(taught, corpora))
    everything = [one for mine in examples.values() for one in mine]
    chances = [
        chance
        for name, fitted in without.items()
        for chance in conflict_chances(fitted, writers[name].pairs, similarities)
    ]
    least = of_long = _least_threshold(chances, "conflict", CONFLICT_PRECISION, FALSE_ALARMS)
    if corpora:
        of_short, of_long = least_probabilities(everything, corpora, false_per_1000=FALSE_PER_1000)
        least = max(of_short, least)
        of_long = max(of_long, least)  # where several pairs are compared, a cue by chance is likelier
    duplicate = choose_duplicate_threshold([pair for pairs in analysed.values() for pair in pairs])
    thresholds = least, duplicate, of_long
    figures: dict[str, Mapping[str, float]] = {}
    for name, fitted in without.items():
        final = replace(fitted, conflict_threshold=least, duplicate_threshold=duplicate, long_text_threshold=of_long)
        figures[name] = _rounded(figures_of(evaluate(writers[name].pairs, similarities, final)))
    pairs = [pair for name, writer in writers.items() for pair in analysed[name] * writer.times]
    return Trained(fit_classifier(pairs, thresholds, fit_contradiction(everything, corpora)), figures)


def _examples(writer: Writer, similarities: Similarities) -> list[Example]:
    weight = float(REPEATED_WEIGHT if writer.times > 1 else 1)
    cosines = similarities(writer.pairs)
    return [
        example(pair.left, pair.right, cosine, pair.label, weight)
        for pair, cosine in zip(writer.pairs, cosines, strict=True)
    ]


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
    unrelated: Mapping[str, UnrelatedTexts] | None = None,
    name: str,
    version: int,
) -> str:
    """Return the classifier that the pairs to `train` teach, as its YAML file, with its figures for those to `test`.

    Both are given by the names of their files.
    """
    trained = train_classifier(train, repeated, similarities, unrelated or {})
    classifier = trained.classifier
    facts: dict[str, Any] = {
        "name": name,
        "version": version,
        "trained": {
            source: f"{len(pairs)} pairs" + (f", {REPETITIONS} times" if source in repeated else "")
            for source, pairs in train.items()
        },
        "unrelated": {source: f"{texts.size} texts" for source, texts in (unrelated or {}).items()},
        "method": METHOD,
        "figures": {
            source: _rounded(figures_of(evaluate(pairs, similarities, classifier))) for source, pairs in test.items()
        },
        "without_the_writer": {name: dict(figures) for name, figures in trained.without_the_writer.items()},
        "thresholds": {
            "conflict": classifier.conflict_threshold,
            "duplicate": classifier.duplicate_threshold,
            "conflict_in_long_texts": classifier.long_text_threshold,
        },
        "subject": dict(classifier.subject_weights),
        "labels": {label: dict(weights) for label, weights in classifier.label_weights.items()},
        "contradiction": dict(classifier.contradiction_weights),
    }
    return yaml.safe_dump(facts, sort_keys=False, width=110)


def _matrix(features: Sequence[Mapping[str, float]], names: Sequence[str]) -> Numbers:
    """Return a row per pair, whose last column is the bias."""
    return np.array([[*(mine[name] for name in names), 1.0] for mine in features])


def _weights(labels: Sequence[Label]) -> Numbers:
    """Return the weight of each pair, so that each label has the same sum."""
    counts = Counter(labels)
    return np.array([1 / (len(counts) * counts[label]) for label in labels])


def _named(weights: Numbers, names: Sequence[str]) -> dict[str, float]:
    return {name: round(float(weight), DECIMALS) for name, weight in zip([*names, BIAS], weights, strict=True)}
