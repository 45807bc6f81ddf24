"""Training goes from labelled questions about several kinds of text to the file of a ranker.

The loss is the listwise softmax (ListNet's top-one loss, Cao et al. 2007) with an L2 penalty: for each question, the
scores of its rows are turned into chances, and the chances of the evidence are made as large as they get. Each kind of
text counts the same, however many questions it has. Weights come in two columns, for long and for brief texts; the
brevity of a row's owner says how much each of them counts. The loss is convex, so Newton's method finds its one
minimum: the same weights every time.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from assembly.profiles.training.labelled_questions import LabelledQuestion
from assembly.profiles.training.listwise import Numbers, Penalty, RowLists, minimise_loss
from assembly.profiles.training.recall import Figures, mean_recall
from memories.search.features import BREVITY, Weights

SIMPLE_SUM_WEIGHTS: Mapping[str, float] = {"similarity_z": 1.0, "words_z": 0.7}
"""The weights of the sum of similarity and words, which is fitted first; the other features are then fitted relative to
it.
"""
FORM_FEATURES = ("relative_length", "asks", "after_question")
"""The features of a text's form, which differ most between kinds of text."""
PENALTY = 1e-3
LONG_SIMPLE, LONG_CONTEXT, LONG_FORM, LONG_CUE = 0.3, 1.0, 1.0, 0.01
BRIEF_SIMPLE = BRIEF_FORM = 0.03
"""L2 penalties. For long texts: of similarity and words, of both around the text, of form and day, of labels and dates.

For brief texts, only the weights of similarity, words and form have a higher penalty than PENALTY.
"""
PENALTIES = (
    f"L2 penalty {PENALTY}, {BRIEF_FORM} on form, similarity and words; for long texts {LONG_SIMPLE} around the sum of"
    f" similarity and words, {LONG_CONTEXT} on what is around, {LONG_FORM} on form and day, {LONG_CUE} on labels,"
    " dates and times"
)


def fit_weights(questions: Sequence[LabelledQuestion], names: Sequence[str]) -> Weights:
    """Return the weight of each of the named features, for long and for brief texts.

    The sum of similarity and words is fitted first; the features then change what it says as far as the data of all
    kinds agrees on it. So a kind of text that was not trained on is ranked about as well as by that sum, at least.
    """
    expected = _simple_weights(questions, names)
    strength = np.array([*map(_long_penalty, names), *map(_brief_penalty, names)])
    weights = minimise_loss(_question_lists(questions, names), Penalty(expected, strength))
    long, brief = (dict(zip(names, half.tolist(), strict=True)) for half in np.split(weights, 2))
    return Weights(long, brief)


def _simple_weights(questions: Sequence[LabelledQuestion], names: Sequence[str]) -> Numbers:
    """Return the weights for long and for brief texts if the sum of similarity and words were the only feature."""
    shares = {name: SIMPLE_SUM_WEIGHTS[name] for name in names if name in SIMPLE_SUM_WEIGHTS}
    sums = _question_lists(questions, list(shares)).summed(list(shares.values()))
    scales = minimise_loss(sums, Penalty(np.zeros(2), np.full(2, PENALTY)))
    return np.array([scale * shares.get(name, 0.0) for scale in scales for name in names])


def _long_penalty(name: str) -> float:
    if name in SIMPLE_SUM_WEIGHTS:
        return LONG_SIMPLE
    if name in FORM_FEATURES or name.endswith("_of_day_z"):
        return LONG_FORM
    return LONG_CONTEXT if name.endswith("_z") else LONG_CUE


def _brief_penalty(name: str) -> float:
    if name in SIMPLE_SUM_WEIGHTS:
        return BRIEF_SIMPLE
    return BRIEF_FORM if name in FORM_FEATURES else PENALTY


def _question_lists(questions: Sequence[LabelledQuestion], names: Sequence[str]) -> RowLists:
    features, wanted = [], []
    for question in questions:
        measured = np.stack([question.measures[name] for name in names], axis=1)
        brevity = question.measures[BREVITY][:, None]
        features.append(np.hstack([(1 - brevity) * measured, brevity * measured]))
        wanted.append(np.zeros(len(measured)))
        wanted[-1][question.evidence] = 1 / len(question.evidence)
    starts = np.cumsum([0, *(len(rows) for rows in features[:-1])])
    of_kind = Counter(question.kind for question in questions)
    counts = np.array([1 / (len(of_kind) * of_kind[question.kind]) for question in questions])
    return RowLists(np.concatenate(features), np.concatenate(wanted), starts, counts)


FEATURE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "meaning": ("similarity_z", "similarity_with_previous_z", "similarity_of_day_z"),
    "words": ("words_z", "words_around_z", "words_of_day_z"),
    "label": ("labelled",),
    "dates": ("date", "near_date"),
    "times": ("time_said",),
    "form": ("relative_length", "asks", "after_question"),
}
"""The trained features, in groups."""

TRAINED_FEATURES = tuple(name for names in FEATURE_GROUPS.values() for name in names)
MANUAL_WEIGHTS = {"salience": 1.0, "credibility": 1.0}
"""Weights that are set by hand, because no labelled data depends on them: from the lowest to the highest value, the
odds change by a factor of e.
"""

BASELINES: Mapping[str, Weights] = {
    "similarity": Weights({"similarity_z": 1.0}),
    "words": Weights({"words_z": 1.0}),
    "sum": Weights({"similarity_z": 1.0, "words_z": 1.0}),
}
"""The simple rankers that a trained one is compared with: one feature alone, or the sum of two."""

MIN_WORDS = 0.3
REACH = 14.0
DECIMALS = 4
REPORTED_FIGURES = ("r_at_20", "r_at_500_tokens", "r_at_2000_tokens")


def trained_weights(questions: Sequence[LabelledQuestion], names: Sequence[str] = TRAINED_FEATURES) -> Weights:
    """Return the trained weights of the named features, rounded as in the file."""
    trained = fit_weights(questions, names)
    return Weights(_rounded(trained.long), _rounded(trained.brief or {}))


def kinds_of(questions: Sequence[LabelledQuestion]) -> list[str]:
    """Return the kinds of text of the questions, in alphabetical order."""
    return sorted({question.kind for question in questions})


def baseline_recall(questions: Sequence[LabelledQuestion], way: str) -> Figures:
    """Return the mean recall of one of the BASELINES."""
    return mean_recall(questions, BASELINES[way])


def ranker_text(
    *,
    name: str,
    version: int,
    sources: Mapping[str, str],
    train: Sequence[LabelledQuestion],
    test: Sequence[LabelledQuestion],
) -> str:
    """Return the ranker that the questions teach, as the file that Dossier reads.

    `sources` says by kind what its texts are. The figures are those of the questions to `test`, kind by kind: of this
    ranker and of the simple ways. A ranker that was trained without the kind is tried on all its questions.
    """
    weights = trained_weights(train)
    facts = {
        "name": name,
        "version": version,
        "trained": {kind: f"{sources[kind]}; {_count(train, kind)} questions" for kind in kinds_of(train)},
        "method": f"listwise softmax, each kind counts the same, {PENALTIES}",
        "set_by_hand": [*MANUAL_WEIGHTS, "least_words", "reach"],
        "figures": {kind: _figures(kind, train, test, weights) for kind in kinds_of(test)},
        "least_words": MIN_WORDS,
        "reach": REACH,
        "weights": dict(weights.long) | MANUAL_WEIGHTS,
        "brief_weights": dict(weights.brief or {}) | MANUAL_WEIGHTS,
    }
    return yaml.safe_dump(facts, sort_keys=False, width=110)


def _figures(
    kind: str, train: Sequence[LabelledQuestion], test: Sequence[LabelledQuestion], weights: Weights
) -> dict[str, Any]:
    asked, others = _questions_of_kind(test, kind), [question for question in train if question.kind != kind]
    figures = {"trained": _compare_recall(asked, weights)}
    if others:
        every = {id(question): question for question in (*_questions_of_kind(train, kind), *asked)}
        figures["left_out"] = _compare_recall(list(every.values()), trained_weights(others))
    return figures


def _compare_recall(questions: Sequence[LabelledQuestion], weights: Weights) -> dict[str, Any]:
    """Return the recall with these weights and with the BASELINES, and the number of questions."""
    ways = {way: _reported_figures(baseline_recall(questions, way)) for way in BASELINES}
    return {"questions": len(questions), "ranker": _reported_figures(mean_recall(questions, weights)), **ways}


def _questions_of_kind(questions: Sequence[LabelledQuestion], kind: str) -> list[LabelledQuestion]:
    return [question for question in questions if question.kind == kind]


def _count(questions: Sequence[LabelledQuestion], kind: str) -> int:
    return len(_questions_of_kind(questions, kind))


def _reported_figures(figures: Figures) -> Figures:
    return {name: round(figures[name], DECIMALS) for name in REPORTED_FIGURES}


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(weight), DECIMALS) for name, weight in weights.items()}
