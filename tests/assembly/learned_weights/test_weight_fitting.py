"""The fit finds the measure by which used items differ from the others; bounds and sums hold for any feedback."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.profile import Weights
from assembly.engine.types import field_values
from assembly.learned_weights.weight_fitting import MEASURES, ItemList, fit_priority_weights

OWN = Weights(relevance=0.4, recency=0.2, credibility=0.25, coherence=0.15, salience=0)


def _lists(measure: str, contexts: int = 60, items: int = 8) -> list[ItemList]:
    """Lists with random measures, in which the two items with the most of the measure were used."""
    drawn, place = random.Random(7), MEASURES.index(measure)
    lists = []
    for _ in range(contexts):
        measures = np.array([[drawn.random() for _ in MEASURES] for _ in range(items)])
        best = set(np.argsort(-measures[:, place])[:2].tolist())
        lists.append(ItemList(measures, tuple(one in best for one in range(items))))
    return lists


@pytest.mark.parametrize("measure", MEASURES)
def test_the_measure_that_tells_used_items_gets_the_largest_weight(measure: str) -> None:
    weights = field_values(fit_priority_weights(_lists(measure), OWN))
    assert max(weights, key=weights.__getitem__) == measure
    assert weights[measure] > 0.7


@given(
    st.lists(
        st.lists(st.tuples(st.lists(st.floats(0, 1), min_size=5, max_size=5), st.booleans()), min_size=1, max_size=6),
        max_size=8,
    )
)
def test_weights_are_never_negative_and_keep_their_sum(contexts: list[list[tuple[list[float], bool]]]) -> None:
    lists = [ItemList(np.array([m for m, _ in items]), tuple(used for _, used in items)) for items in contexts]
    weights = field_values(fit_priority_weights(lists, OWN))
    assert min(weights.values()) >= 0
    assert math.fsum(weights.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("used", [(True, True), (False, False)])
def test_contexts_without_a_contrast_teach_nothing(used: tuple[bool, ...]) -> None:
    assert fit_priority_weights([ItemList(np.random.default_rng(1).random((2, 5)), used)] * 50, OWN) == OWN


def test_little_feedback_moves_the_weights_less_than_much() -> None:
    def distance(share: float) -> float:
        """How far the weights move when so large a share of the contexts says that salience counts."""
        lists = _lists("salience", 100)
        flat = [ItemList(np.zeros((2, 5)), (True, False))] * 100
        weights = fit_priority_weights([*lists[: int(share * 100)], *flat[int(share * 100) :]], OWN)
        moved = field_values(weights)
        return math.fsum(abs(moved[name] - own) for name, own in field_values(OWN).items())

    assert distance(0.02) < distance(0.9)


def test_a_profile_that_weights_nothing_keeps_its_weights() -> None:
    nothing = Weights(recency=0, relevance=0, salience=0, credibility=0, coherence=0)
    assert fit_priority_weights(_lists("recency"), nothing) == nothing
