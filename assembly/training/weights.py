"""From labelled questions to the text of a ranker."""

from collections.abc import Mapping, Sequence

import yaml

from assembly.training.fitting import PENALTY, fitted
from assembly.training.labelled import Labelled
from assembly.training.recall import mean_recall

GROUPS: Mapping[str, tuple[str, ...]] = {
    "meaning": ("similarity", "similarity_with_previous", "similarity_of_day"),
    "words": ("words", "words_with_previous", "words_around", "words_of_day"),
    "label": ("labelled",),
    "dates": ("date", "near_date"),
    "times": ("time_said",),
    "form": ("length", "asks", "after_question"),
}
"""The features that are trained, by what they look at."""

TRAINED = tuple(name for names in GROUPS.values() for name in names)
BY_HAND = {"salience": 1.0, "credibility": 1.0}
"""What no labelled data tells apart: from the least to the most, the odds change by e."""

LEAST_WORDS = 0.3
REACH = 6.0
DECIMALS = 4


def weights_of(questions: Sequence[Labelled], names: Sequence[str] = TRAINED) -> dict[str, float]:
    """The trained weights of the named features, rounded as they are written down."""
    return {name: round(weight, DECIMALS) for name, weight in fitted(questions, names).items()}


def ranker_text(*, name: str, version: int, source: str, questions: Sequence[Labelled]) -> str:
    """The ranker that the questions teach, as the file that Dossier reads; `source` says what they are of."""
    weights = weights_of(questions)
    facts = {
        "name": name,
        "version": version,
        "trained": f"{len(questions)} questions of {source}; listwise softmax, L2 penalty {PENALTY}",
        "set_by_hand": [*BY_HAND, "least_words", "reach"],
        "figures": {figure: round(value, DECIMALS) for figure, value in mean_recall(questions, weights).items()},
        "least_words": LEAST_WORDS,
        "reach": REACH,
        "weights": weights | BY_HAND,
    }
    return yaml.safe_dump(facts, sort_keys=False, width=110)
