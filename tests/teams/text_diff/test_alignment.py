"""What two sequences have in common, also when they are cut into pieces."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.text_diff.alignment import Span, align
from tests.teams.text_diff.texts import calm

UNITS = st.lists(st.integers(0, 6), max_size=25)


@calm
@given(UNITS, UNITS, st.sampled_from([1, 4, 30, 10_000]))
def test_spans_lead_from_the_one_to_the_other(old: list[int], new: list[int], max_cells: int) -> None:
    spans = align(old, new, max_cells)
    assert [unit for span in spans for unit in old[span.old_from : span.old_to]] == old
    assert [unit for span in spans for unit in new[span.new_from : span.new_to]] == new
    for span in spans:
        if span.same:
            assert old[span.old_from : span.old_to] == new[span.new_from : span.new_to]
    assert all(one.same != other.same for one, other in pairwise(spans))


def test_what_is_equal_is_found_around_what_changed() -> None:
    assert align("abcd", "abXd") == [Span(True, 0, 2, 0, 2), Span(False, 2, 3, 2, 3), Span(True, 3, 4, 3, 4)]


@pytest.mark.parametrize("max_cells", [1, 50, 10_000])
def test_pieces_are_cut_where_units_stand_once(max_cells: int) -> None:
    old = ["same"] * 5 + ["title"] + ["same"] * 5
    new = ["other"] * 3 + ["title"] + ["else"] * 4
    assert Span(True, 5, 6, 3, 4) in align(old, new, max_cells)


def test_units_with_equal_hashes_are_told_apart() -> None:
    assert hash(-1) == hash(-2)
    assert not any(span.same for span in align([-1], [-2]))
