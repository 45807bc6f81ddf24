"""How rare terms are. What a sample tells of it: test_samples.py."""

import math
import random

import numpy as np
import pytest

from memories.search.question import QueryTerms, SearchQuestion
from memories.search.row_format import LAYOUT, SAYS_A_TIME, Columns, OwnerSearch
from memories.search.term_statistics import TermStatistics, exact_statistics
from teams.models import Team

SEARCH = OwnerSearch("team_id", Team().pk, SearchQuestion("", None), QueryTerms(("'frequent'", "'rare'", "'unknown'")))
FREQUENT, RARE = 1, 2


def random_rows(count: int) -> Columns:
    """Half of them have the frequent term, one in a hundred the rare one."""
    chance = random.Random(count)
    rows = np.zeros(count, dtype=LAYOUT)
    rows["id_low"] = [chance.getrandbits(62) for _ in range(count)]
    rows["marks"] = [FREQUENT * (number % 2) + RARE * (number % 100 == 0) for number in range(count)]
    return rows


def test_the_rarer_tell_more() -> None:
    rarity = exact_statistics(random_rows(1_000), SEARCH)
    assert rarity.having.tolist() == [500, 10, 0]
    assert rarity.idf == pytest.approx([math.log(1 + (1_000 - n + 0.5) / (n + 0.5)) for n in (500, 10, 0)])


def test_what_is_counted_is_true_whatever_was_thought() -> None:
    rows = random_rows(100_000)
    rarity = TermStatistics(90_000, np.array([45_000.0, 700.0, 20.0]), 0, 100)
    counted = rarity.counted(rows[(rows["marks"] & RARE) > 0], np.array([1, 2]))
    assert counted.having.tolist() == [45_000, 1_000, 0]


def test_to_say_a_time_tells_the_less_the_more_rows_say_one() -> None:
    tells = []
    for of_a_thousand in (0, 100, 200, 500, 1_000):
        rows = random_rows(1_000)
        rows["marks"][:of_a_thousand] |= SAYS_A_TIME
        tells.append(exact_statistics(rows, SEARCH).time_tells)
    assert tells == pytest.approx([1, 1, -math.log(0.2) / 2, -math.log(0.5) / 2, 0], abs=0.002)


def test_all_that_fit_together_are_the_rarest() -> None:
    rarity = TermStatistics(1_000, np.array([600.0, 20.0, 0.0, 90.0]), 0, 100)
    assert rarity.rarest(110).tolist() == [2, 1, 3]
    assert rarity.rarest(109).tolist() == [2, 1]


def test_no_rows_have_nothing() -> None:
    rarity = exact_statistics(np.zeros(0, dtype=LAYOUT), SEARCH)
    assert rarity.dated == 0
    assert np.isfinite(rarity.idf).all()
