"""Training: from labelled questions about several kinds of text to the file of a ranker."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from assembly.training.fitting import PENALTIES, fitted
from assembly.training.labelled import Labelled
from assembly.training.recall import Figures, mean_recall
from memories.retrieval import Weights

GROUPS: Mapping[str, tuple[str, ...]] = {
    "meaning": ("similarity_z", "similarity_with_previous_z", "similarity_of_day_z"),
    "words": ("words_z", "words_around_z", "words_of_day_z"),
    "label": ("labelled",),
    "dates": ("date", "near_date"),
    "times": ("time_said",),
    "form": ("relative_length", "asks", "after_question"),
}
"""The features that are trained, by what they look at."""

TRAINED = tuple(name for names in GROUPS.values() for name in names)
BY_HAND = {"salience": 1.0, "credibility": 1.0}
"""No labelled data tells these apart: from the least to the most, the odds change by e."""

SIMPLE: Mapping[str, Weights] = {
    "similarity": Weights({"similarity_z": 1.0}),
    "words": Weights({"words_z": 1.0}),
    "sum": Weights({"similarity_z": 1.0, "words_z": 1.0}),
}
"""The simple ways that a ranker has to be as good as: one feature alone, or the sum of two."""

LEAST_WORDS = 0.3
REACH = 14.0
DECIMALS = 4
PRINTED = ("r_at_20", "r_at_500_tokens", "r_at_2000_tokens")


def weights_of(questions: Sequence[Labelled], names: Sequence[str] = TRAINED) -> Weights:
    """Return the trained weights of the named features, rounded as they are written down."""
    trained = fitted(questions, names)
    return Weights(_rounded(trained.long), _rounded(trained.brief or {}))


def kinds_of(questions: Sequence[Labelled]) -> list[str]:
    """Return the kinds of text that the questions are about, in order of the alphabet."""
    return sorted({question.kind for question in questions})


def simple_recall(questions: Sequence[Labelled], way: str) -> Figures:
    """Return the mean recall of one of the SIMPLE ways."""
    return mean_recall(questions, SIMPLE[way])


def ranker_text(
    *,
    name: str,
    version: int,
    sources: Mapping[str, str],
    train: Sequence[Labelled],
    test: Sequence[Labelled],
) -> str:
    """Return the ranker that the questions teach, as the file that Dossier reads.

    `sources` says by kind what its texts are. The figures are those of the questions to `test`, kind by kind: of this
    ranker and of the simple ways. A ranker that was trained without the kind is tried on all its questions.
    """
    weights = weights_of(train)
    facts = {
        "name": name,
        "version": version,
        "trained": {kind: f"{sources[kind]}; {_count(train, kind)} questions" for kind in kinds_of(train)},
        "method": f"listwise softmax, each kind counts the same, {PENALTIES}",
        "set_by_hand": [*BY_HAND, "least_words", "reach"],
        "figures": {kind: _figures(kind, train, test, weights) for kind in kinds_of(test)},
        "least_words": LEAST_WORDS,
        "reach": REACH,
        "weights": dict(weights.long) | BY_HAND,
        "brief_weights": dict(weights.brief or {}) | BY_HAND,
    }
    return yaml.safe_dump(facts, sort_keys=False, width=110)


def _figures(kind: str, train: Sequence[Labelled], test: Sequence[Labelled], weights: Weights) -> dict[str, Any]:
    asked, others = _of_kind(test, kind), [question for question in train if question.kind != kind]
    figures = {"trained": _compared(asked, weights)}
    if others:
        every = {id(question): question for question in (*_of_kind(train, kind), *asked)}
        figures["left_out"] = _compared(list(every.values()), weights_of(others))
    return figures


def _compared(questions: Sequence[Labelled], weights: Weights) -> dict[str, Any]:
    """Return the recall by these weights and by the SIMPLE ways, with the number of questions."""
    ways = {way: _printed(simple_recall(questions, way)) for way in SIMPLE}
    return {"questions": len(questions), "ranker": _printed(mean_recall(questions, weights)), **ways}


def _of_kind(questions: Sequence[Labelled], kind: str) -> list[Labelled]:
    return [question for question in questions if question.kind == kind]


def _count(questions: Sequence[Labelled], kind: str) -> int:
    return len(_of_kind(questions, kind))


def _printed(figures: Figures) -> Figures:
    return {name: round(figures[name], DECIMALS) for name in PRINTED}


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(weight), DECIMALS) for name, weight in weights.items()}
