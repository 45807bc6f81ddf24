"""Recall is the share of the evidence among the first rows, or among the rows that fit a token budget."""

from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from assembly.profiles.training.labelled_questions import LabelledQuestion
from memories.search.features import Weights, scores_of

TOP_K = (5, 10, 20)
BUDGETS = (500, 1_000, 2_000)
"""Token budgets for recall."""

Figures = dict[str, float]


def recall(order: Sequence[int], evidence: Iterable[int], tokens: Sequence[int]) -> Figures:
    """Return the share of the evidence, 0 to 1, within each of PLACES and BUDGETS. `order` has the best row first.

    Within a budget, a row that does not fit is skipped, and the next one is tried.
    """
    wanted = set(evidence)
    figures = {f"r_at_{places}": len(wanted & set(order[:places])) / len(wanted) for places in TOP_K}
    for budget in BUDGETS:
        figures[f"r_at_{budget}_tokens"] = len(wanted & _positions_within(order, tokens, budget)) / len(wanted)
    return figures


def mean_recall(questions: Sequence[LabelledQuestion], weights: Weights) -> Figures:
    """Return the mean recall of the questions, ranked with these weights."""
    return mean_figures([_recall_of(asked, weights) for asked in questions])


def mean_figures(figures: Sequence[Figures]) -> Figures:
    """Return the mean of each figure."""
    return {name: fmean(one[name] for one in figures) for name in figures[0]}


def _recall_of(asked: LabelledQuestion, weights: Weights) -> Figures:
    order = np.argsort(-scores_of(asked.measures, weights), kind="stable").tolist()
    return recall(order, asked.evidence.tolist(), asked.tokens.tolist())


def _positions_within(order: Sequence[int], tokens: Sequence[int], budget: int) -> set[int]:
    taken, used = set(), 0
    for place in order:
        if used + tokens[place] <= budget:
            taken.add(place)
            used += tokens[place]
    return taken
