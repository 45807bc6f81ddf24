"""Evaluation measures how well the labels of pairs are found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assembly.conflicts.detection.classifier import Classifier, Label
from assembly.conflicts.detection.comparison import Comparison, compare_texts_by
from assembly.conflicts.detection.inference import InferenceModel
from assembly.conflicts.detection.labelled_pairs import LabelledPair
from memories.embeddings.base import Embedder

AGREEING: tuple[Label, ...] = ("duplicate", "refining", "similar")
"""The labels of pairs that are a false alarm if they are called conflicts."""

Similarities = Callable[[Sequence[LabelledPair]], Sequence[float]]
"""A function that returns the cosine of both texts of each pair."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A labelled pair and what was found for it."""

    pair: LabelledPair
    found: Comparison


def similarities_by(embedder: Embedder) -> Similarities:
    """Return the function that embeds the texts of pairs with this embedder; the cosine is 0 for unknown words."""

    def similarities(pairs: Sequence[LabelledPair]) -> list[float]:
        vectors = embedder.embed([text for pair in pairs for text in (pair.left, pair.right)])
        couples = zip(vectors[::2], vectors[1::2], strict=True)
        return [0.0 if one is None or other is None else float(one @ other) for one, other in couples]

    return similarities


def evaluate(
    pairs: Sequence[LabelledPair],
    similarities: Similarities,
    classifier: Classifier,
    model: InferenceModel | None = None,
) -> list[Outcome]:
    """Return what the classifier, and the language model if there is one, find for each pair."""
    return [
        Outcome(
            pair,
            compare_texts_by(
                classifier,
                pair.left,
                pair.right,
                similarity=similarity,
                left_date=pair.left_date,
                right_date=pair.right_date,
                model=model,
            ),
        )
        for pair, similarity in zip(pairs, similarities(pairs), strict=True)
    ]


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return precision and recall of conflicts, the share of agreeing pairs called conflicts, precision of duplicates.

    Each is between 0 and 1. A precision of nothing is 1, a recall or share of nothing is 0.
    """
    found = Counter((outcome.pair.label, outcome.found.label) for outcome in outcomes)
    called = _sum(found, found_label="conflict")
    conflicts = _sum(found, label="conflict")
    agreeing = sum(_sum(found, label=label) for label in AGREEING)
    duplicates = _sum(found, found_label="duplicate")
    return {
        "precision": found["conflict", "conflict"] / called if called else 1.0,
        "recall": found["conflict", "conflict"] / conflicts if conflicts else 0.0,
        "false_alarms": sum(found[label, "conflict"] for label in AGREEING) / agreeing if agreeing else 0.0,
        "duplicate_precision": found["duplicate", "duplicate"] / duplicates if duplicates else 1.0,
    }


def _sum(
    found: Mapping[tuple[Label, Label], int], *, label: Label | None = None, found_label: Label | None = None
) -> int:
    return sum(
        count for (mine, theirs), count in found.items() if label in (None, mine) and found_label in (None, theirs)
    )
