"""The classifier consists of three linear models over features; people can read their weights in a YAML file.

The first model, a logistic one, gives the certainty that two statements have one subject and one slot. The second, a
multinomial one, gives the probability of each label; the certainty is one of its features. A label's score is the sum
of weight x feature and a bias, and probabilities are the softmax of the scores. The third, a logistic one, decides
about conflicts. It was taught by pairs of unrelated texts as workers meet them, too: nearly all pairs are such ones,
which pairs with labels do not show.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from assembly.conflicts.detection.contradiction import CONTRADICTION_FEATURES, contradiction_features, shares_words
from assembly.conflicts.detection.duplicate_guards import is_possible_duplicate
from assembly.conflicts.detection.features import (
    LABEL_FEATURES,
    SUBJECT_FEATURES,
    Features,
    Pair,
    label_features,
    subject_features,
)
from assembly.conflicts.detection.statement import Statement
from assembly.conflicts.detection.word_alignment import sentence_similarity

Label = Literal["conflict", "duplicate", "refining", "evolving", "similar", "unrelated"]
LABELS: tuple[Label, ...] = ("conflict", "duplicate", "refining", "evolving", "similar", "unrelated")

DEFAULT_WEIGHTS = Path(__file__).parent / "weights" / "default.yaml"
BIAS = "bias"
LEAST_COSINE = 0.5
"""The least cosine of two statements in conflict, by the bundled embedder: long texts have many sentences."""
LEAST_WORDS = 4
"""The least words of a sentence of a longer text that states something: not *Thanks, Ada!*"""
LEAST_OF_UNLIKE_TEXTS = 0.95
"""The least probability of a conflict between lines of texts whose cosine is below LEAST_COSINE."""
LEAST_WORDY_COSINE = 0.2
"""The least cosine of two statements in conflict that share most of what they say: names change a vector much."""
PLAIN_PROBABILITY, PLAIN_OVERLAP, PLAIN_COSINE = 0.25, 0.65, 0.8
"""The least probability of a conflict that differs in nothing but a number or date, and what makes it such a one.

The learned weights ask more of it than needed, because they have to tell pairs in quite different words apart.
"""
MAX_EXPONENT = 500.0
MAX_WORDS = 25
"""The most words with a meaning of a statement that may be in a conflict: longer ones say many things."""
_CODE = re.compile(r"^\s*(?:[|:${<]|>>>|->|\w+\()|::|\\$|[{}]|\w=[\"'\w]|\bdef \w+\(|^(?:import|raise|return) ")
"""Lines of code, of markup and of tables."""
SAME_SUBJECT = 0.5
"""The certainty from which two statements count as being about one subject."""


@dataclass(frozen=True, slots=True)
class Classification:
    """This is what the classifier says about a pair of statements."""

    label: Label
    probability: float
    """The probability of the label, 0 to 1."""
    subject: float
    conflict_probability: float
    likeliest: Label | None = None
    """The most probable label, whatever guards say; None for a conflict."""


@dataclass(frozen=True, slots=True)
class Classifier:
    """The weights of the models, and the least probabilities of the two labels that have consequences."""

    subject_weights: Mapping[str, float]
    label_weights: Mapping[Label, Mapping[str, float]]
    contradiction_weights: Mapping[str, float]
    conflict_threshold: float
    duplicate_threshold: float
    long_text_threshold: float
    """The least probability of conflicts between texts of which several pairs of statements are compared."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Classifier":
        """Return the classifier of a file. Raises ValueError for features or labels that do not exist."""
        subject, labels, contradiction = facts["subject"], facts["labels"], facts["contradiction"]
        unknown = set(subject) - {*SUBJECT_FEATURES, BIAS}
        unknown |= {name for weights in labels.values() for name in weights} - {*LABEL_FEATURES, BIAS}
        unknown |= set(labels) ^ set(LABELS) | set(contradiction) - {*CONTRADICTION_FEATURES, BIAS}
        if unknown:
            raise ValueError(f"The weights of conflicts name {', '.join(sorted(unknown))}, which do not exist.")
        thresholds = facts["thresholds"]
        conflict, duplicate, of_long = (
            float(thresholds[name]) for name in ("conflict", "duplicate", "conflict_in_long_texts")
        )
        return cls(subject, labels, contradiction, conflict, duplicate, of_long)

    def subject_of(self, of_subject: Features) -> float:
        """Return the certainty, 0 to 1, that both statements have one subject and one slot."""
        return _logistic(_score(self.subject_weights, of_subject.items()))

    def classify(self, pair: Pair) -> Classification:
        """Return the label of a pair of statements.

        A conflict needs a cue and the least probability of conflicts, and a duplicate that of duplicates; otherwise
        the most probable of the other labels is returned.
        """
        of_subject = subject_features(pair)
        subject = self.subject_of(of_subject)
        of_conflict = contradiction_features(pair) if is_possible_conflict(pair) else None
        conflict = self.contradiction_of(of_conflict) if of_conflict else 0.0
        is_plain = of_conflict is not None and _differs_in_a_value(of_conflict)
        least = min(PLAIN_PROBABILITY, self.conflict_threshold) if is_plain else self._threshold_of(pair)
        if conflict >= least:
            return Classification("conflict", conflict, subject, conflict)
        chances = self.probabilities(label_features(pair, subject, of_subject))
        duplicate = chances["duplicate"]
        likeliest = max(LABELS, key=lambda label: chances[label])
        if is_possible_duplicate(pair) and duplicate >= self.duplicate_threshold:
            return Classification("duplicate", duplicate, subject, conflict, likeliest)
        others: list[Label] = ["refining", "similar", "unrelated"]
        if is_possible_change(pair, subject):
            others.append("evolving")
        best = max(others, key=lambda label: chances[label])
        return Classification(best, chances[best], subject, conflict, likeliest)

    def _threshold_of(self, pair: Pair) -> float:
        """Return the least probability of a conflict: the less alike the texts are, the likelier is a cue by chance."""
        if pair.place == "notes":
            return self.conflict_threshold
        return self.long_text_threshold if pair.text_cosine >= LEAST_COSINE else LEAST_OF_UNLIKE_TEXTS

    def contradiction_of(self, of_conflict: Features) -> float:
        """Return the probability, 0 to 1, that two statements with a cue contradict each other."""
        return _logistic(_score(self.contradiction_weights, of_conflict.items()))

    def probabilities(self, features: Features) -> dict[Label, float]:
        """Return the probability of each label."""
        present = [(name, value) for name, value in features.items() if value]
        scores = {label: _score(self.label_weights[label], present) for label in LABELS}
        highest = max(scores.values())
        powers = {label: math.exp(max(score - highest, -MAX_EXPONENT)) for label, score in scores.items()}
        total = math.fsum(powers.values())
        return {label: power / total for label, power in powers.items()}


def states_one_thing(statement: Statement) -> bool:
    """Return whether the statement may contradict another one: it is no question, no code and not too long."""
    return not (statement.is_question or len(statement.words) > MAX_WORDS or _CODE.search(statement.text))


def is_possible_conflict(pair: Pair) -> bool:
    """Return whether the statements have a cue, and are near in meaning or share their words.

    Questions and code say nothing, what opens at 7 may close at 19, and ward 3 is not ward 4.
    """
    if not (states_one_thing(pair.left) and states_one_thing(pair.right)):
        return False
    if pair.cues.has_other_number or _is_too_short(pair):
        return False
    is_denied = pair.cues.strongest_kind() == "negation"
    if not pair.cues.differences or not (is_denied or not pair.cues.has_other_event):
        return False
    cosine = sentence_similarity(pair.left.text, pair.right.text)
    return cosine >= LEAST_COSINE or (cosine >= LEAST_WORDY_COSINE and shares_words(pair))


def _is_too_short(pair: Pair) -> bool:
    """Return whether statements of longer texts may be entries of two lists; a short line may be one about a note."""
    short = [len(statement.text.split()) < LEAST_WORDS for statement in (pair.left, pair.right)]
    return pair.place != "notes" and (all(short) if pair.place == "line" else any(short))


def differs_in_a_value(pair: Pair) -> bool:
    """Return whether nothing but a number or date differs between statements that may be in a conflict."""
    return is_possible_conflict(pair) and _differs_in_a_value(contradiction_features(pair))


def _differs_in_a_value(features: Features) -> bool:
    """Return whether nothing but a number or date differs: one statement has all words of the other one."""
    apart = ("loose", "rest_of_both", "other_subject", "other_event", "other_slot", "exception", "change", "tense")
    return (
        features["number"] + features["date"] > 0
        and not features["negation"]
        and not features["state"]
        and not any(features[name] for name in apart)
        and features["weighed_overlap"] >= PLAIN_OVERLAP
        and features["sentence_cosine"] >= PLAIN_COSINE
    )


def is_possible_change(pair: Pair, subject: float) -> bool:
    """Return whether the statements have one subject, and a cue, or a word or tense that tells of a change."""
    left, right = pair.left, pair.right
    says_so = left.has_change or right.has_change or left.may_have_change or right.may_have_change
    says_so = says_so or left.is_past != right.is_past
    return subject >= SAME_SUBJECT and bool(pair.cues.differences or says_so)


@cache
def load_classifier(path: Path = DEFAULT_WEIGHTS) -> Classifier:
    """Return the classifier of a YAML file, by default the shipped one."""
    return Classifier.from_dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def _score(weights: Mapping[str, float], features: Iterable[tuple[str, float]]) -> float:
    return weights[BIAS] + sum([weights.get(name, 0.0) * value for name, value in features])


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-max(-MAX_EXPONENT, min(MAX_EXPONENT, score))))
