"""The classifier is a pair of linear models over features, whose weights are in a YAML file that people can read.

The first model, a logistic one, gives the certainty that two statements have one subject and one slot. The second, a
multinomial one, gives the probability of each label; the certainty is one of its features. A label's score is the sum
of weight x feature and a bias, and probabilities are the softmax of the scores.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from assembly.conflicts.detection.duplicate_guards import is_possible_duplicate
from assembly.conflicts.detection.features import (
    LABEL_FEATURES,
    SUBJECT_FEATURES,
    Features,
    Pair,
    label_features,
    subject_features,
)

Label = Literal["conflict", "duplicate", "refining", "evolving", "similar", "unrelated"]
LABELS: tuple[Label, ...] = ("conflict", "duplicate", "refining", "evolving", "similar", "unrelated")

DEFAULT_WEIGHTS = Path(__file__).parent / "weights" / "default.yaml"
BIAS = "bias"
MAX_EXPONENT = 500.0
SAME_SUBJECT = 0.5
"""The certainty from which two statements count as being about one subject."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What the classifier says about a pair of statements."""

    label: Label
    probability: float
    """The probability of the label, 0 to 1."""
    subject: float
    conflict_probability: float


@dataclass(frozen=True, slots=True)
class Classifier:
    """The weights of both models, and the least probabilities of the two labels that have consequences."""

    subject_weights: Mapping[str, float]
    label_weights: Mapping[Label, Mapping[str, float]]
    conflict_threshold: float
    duplicate_threshold: float

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Classifier":
        """Return the classifier of a file. Raises ValueError for features or labels that do not exist."""
        subject, labels = facts["subject"], facts["labels"]
        unknown = set(subject) - {*SUBJECT_FEATURES, BIAS}
        unknown |= {name for weights in labels.values() for name in weights} - {*LABEL_FEATURES, BIAS}
        unknown |= set(labels) ^ set(LABELS)
        if unknown:
            raise ValueError(f"The weights of conflicts name {', '.join(sorted(unknown))}, which do not exist.")
        thresholds = facts["thresholds"]
        return cls(subject, labels, float(thresholds["conflict"]), float(thresholds["duplicate"]))

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
        features = label_features(pair, subject, of_subject)
        chances = self.probabilities(features)
        conflict, duplicate = chances["conflict"], chances["duplicate"]
        can_conflict = is_possible_conflict(pair)
        if can_conflict and conflict >= self.conflict_threshold:
            return Classification("conflict", conflict, subject, conflict)
        if is_possible_duplicate(pair) and duplicate >= self.duplicate_threshold:
            return Classification("duplicate", duplicate, subject, conflict)
        others: list[Label] = ["refining", "similar", "unrelated"]
        if is_possible_change(pair, subject):
            others.append("evolving")
        best = max(others, key=lambda label: chances[label])
        return Classification(best, chances[best], subject, conflict if can_conflict else 0.0)

    def probabilities(self, features: Features) -> dict[Label, float]:
        """Return the probability of each label."""
        present = [(name, value) for name, value in features.items() if value]
        scores = {label: _score(self.label_weights[label], present) for label in LABELS}
        highest = max(scores.values())
        powers = {label: math.exp(max(score - highest, -MAX_EXPONENT)) for label, score in scores.items()}
        total = math.fsum(powers.values())
        return {label: power / total for label, power in powers.items()}


def is_possible_conflict(pair: Pair) -> bool:
    """Return whether the statements have a cue; what is denied must be more than a name, with the same roles.

    Questions say nothing, and what opens at 7 may close at 19.
    """
    if pair.left.is_question or pair.right.is_question:
        return False
    if pair.cues.has_other_event or (pair.cues.strongest_kind() in ("number", "date") and _has_foreign_subject(pair)):
        return False
    common = pair.cues.common - pair.left.names - pair.right.names
    is_denied = pair.cues.strongest_kind() in ("negation", "state")
    is_possible = not is_denied or (not pair.cues.has_other_roles and bool(common or pair.cues.strength("state")))
    return bool(pair.cues.differences) and is_possible


def _has_foreign_subject(pair: Pair) -> bool:
    """Return whether one statement does not name the other one's subject at all: an oven, and a cake in the oven.

    What is free is often a part of what has a price, so that there the whole subject must be named.
    """
    is_price = bool(pair.left.gratis) != bool(pair.right.gratis)
    for one, rest in ((pair.left, pair.cues.left_rest), (pair.right, pair.cues.right_rest)):
        if one.subject and (one.subject <= rest or (is_price and one.subject & rest)):
            return True
    return False


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
