"""The least number that does it, found with few tries."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.why_not.fix_search import LeastSteps, SearchExhausted, find_least_steps


def counted(is_sufficient: Callable[[int], bool], most_tries: int = 10**6) -> tuple[Callable[[int], bool], list[int]]:
    tried: list[int] = []

    def trying(steps: int) -> bool:
        if len(tried) >= most_tries:
            raise SearchExhausted
        tried.append(steps)
        return is_sufficient(steps)

    return trying, tried


@given(most=st.integers(1, 100_000), share=st.floats(0, 1), guess=st.integers(0, 100_000))
def test_where_more_does_more_it_is_the_least(most: int, share: float, guess: int) -> None:
    needed = max(1, round(most * share))
    is_sufficient, tried = counted(lambda steps: steps >= needed)
    assert find_least_steps(is_sufficient, most, guess) == LeastSteps(needed, is_least=True)
    assert len(tried) < 40


@given(good=st.sets(st.integers(1, 60)), guess=st.integers(0, 60))
def test_wherever_it_does_it_one_less_does_not(good: set[int], guess: int) -> None:
    found = find_least_steps(lambda steps: steps in good, 60, guess)
    if found is None:
        assert not good & {60, guess}
    else:
        assert found.steps in good
        assert found.steps - 1 not in good


def test_a_good_guess_needs_two_tries() -> None:
    is_sufficient, tried = counted(lambda steps: steps >= 312)
    assert find_least_steps(is_sufficient, 200_000, 312) == LeastSteps(312, is_least=True)
    assert tried == [312, 311]


def test_where_it_had_to_end_early_less_may_do() -> None:
    is_sufficient, _ = counted(lambda steps: steps >= 312, most_tries=3)
    found = find_least_steps(is_sufficient, 1_000)
    assert found is not None
    assert not found.is_least
    assert found.steps >= 312


def test_where_nothing_was_found_by_then_it_says_so() -> None:
    is_sufficient, _ = counted(lambda _: False, most_tries=0)
    with pytest.raises(SearchExhausted):
        find_least_steps(is_sufficient, 1_000)
