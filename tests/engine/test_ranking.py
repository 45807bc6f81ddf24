"""Who comes first in a section, and who gets no chance at all."""

import datetime as dt
from itertools import permutations
from math import inf, nan
from typing import Any

import pytest

from assembly.engine.types import Candidate, InvalidAssembly
from tests.engine.factories import NOW, candidate, codes, decision_on, profile_of, run, section


def memory(ref: str, similarity: float | None = None, hours_ago: int = 0, **fields: object) -> Candidate:
    occurred_at = NOW - dt.timedelta(hours=hours_ago)
    return candidate(ref, f"text of {ref}", similarity=similarity, occurred_at=occurred_at, **fields)


def ranking(*memories: Candidate, top_k: int | None = None, threshold: float = 0.2) -> dict[str, str]:
    return codes(run(profile_of(section(shape="lines", top_k=top_k), threshold=threshold), *memories))


def test_with_a_topic_the_nearest_comes_first() -> None:
    assert list(ranking(memory("a", 0.3), memory("b", 0.9), memory("c", 0.5))) == ["b", "c", "a"]


def test_what_is_too_far_from_the_topic_is_left_out() -> None:
    assert ranking(memory("near", 0.3), memory("far", 0.19), memory("unknown")) == {
        "near": "fits",
        "far": "below_relevance",
        "unknown": "below_relevance",
    }


def test_the_threshold_itself_is_near_enough() -> None:
    assert ranking(memory("a", 0.2), memory("b", 0.1999)) == {"a": "fits", "b": "below_relevance"}


def test_where_the_search_finds_nothing_the_most_recent_are_used() -> None:
    found = ranking(memory("old", 0.19, hours_ago=9), memory("new", 0.01, hours_ago=1))
    assert found == {"new": "fits", "old": "fits"}
    assert list(found) == ["new", "old"]


def test_without_a_topic_the_most_recent_come_first_and_the_undated_last() -> None:
    undated = candidate("a", "undated")
    assert list(ranking(undated, memory("b", hours_ago=2), memory("c", hours_ago=1))) == ["c", "b", "a"]


def test_times_of_different_zones_compare_as_moments() -> None:
    tokyo = dt.timezone(dt.timedelta(hours=9))
    early = candidate("early", "x", occurred_at=dt.datetime(2025, 3, 14, 20, tzinfo=tokyo))
    late = candidate("late", "x", occurred_at=dt.datetime(2025, 3, 14, 12, tzinfo=dt.UTC))
    assert list(ranking(early, late)) == ["late", "early"]


@pytest.mark.parametrize("similarity", [nan, inf, -inf])
def test_a_similarity_that_is_no_number_counts_as_none(similarity: float) -> None:
    assert ranking(memory("a", 0.5), memory("odd", similarity))["odd"] == "below_relevance"
    assert ranking(memory("odd", similarity)) == {"odd": "fits"}
    assert memory("odd", similarity).to_dict()["similarity"] is None


@pytest.mark.parametrize("fields", [{"similarity": 0.5}, {}])
def test_ties_go_to_the_lower_ref_whatever_the_order_of_arrival(fields: dict[str, Any]) -> None:
    for order in permutations("abc"):
        assert list(ranking(*(memory(ref, **fields) for ref in order))) == ["a", "b", "c"]


def test_days_rank_newest_first_and_ties_by_ref() -> None:
    profile = profile_of(section(shape="entries"))
    for order in permutations([("a", 1), ("b", 2), ("c", 2)]):
        days = [candidate(ref, "x", date=dt.date(2025, 3, day)) for ref, day in order]
        assert list(codes(run(profile, *days))) == ["b", "c", "a"]


def test_those_beyond_the_top_are_outranked_and_say_by_how_much() -> None:
    memories = [memory(f"m{number}", 0.9 - number / 10) for number in range(5)]
    assembled = run(profile_of(section(shape="lines", top_k=3)), *memories)
    assert list(codes(assembled).values()) == ["fits"] * 3 + ["outranked"] * 2
    last = decision_on(assembled, "m4")
    assert (last.rank, last.score, dict(last.detail)) == (
        5,
        0.5,
        {"rank": 5, "top_k": 3, "last_score": pytest.approx(0.7)},
    )
    assert not assembled.truncated


def test_a_top_of_none_leaves_all_out() -> None:
    assert ranking(memory("a"), top_k=0) == {"a": "outranked"}


def test_superseded_and_empty_ones_take_no_rank() -> None:
    assembled = run(
        profile_of(section(shape="lines", top_k=1)),
        memory("old", 0.9, superseded_by="new"),
        candidate("blank", "  ", similarity=0.8, superseded_by="new"),
        memory("new", 0.5),
    )
    assert codes(assembled) == {"new": "fits", "blank": "empty", "old": "superseded"}
    assert [decision.rank for decision in assembled.decisions] == [1, None, None]
    assert dict(decision_on(assembled, "old").detail) == {"by": "new"}
    assert assembled.sections[0].status == "whole"


def test_a_superseded_one_does_not_make_the_search_find_something() -> None:
    found = ranking(memory("old", 0.9, superseded_by="b"), memory("a", 0.1, hours_ago=2), memory("b", 0.05))
    assert found == {"b": "fits", "a": "fits", "old": "superseded"}


def test_signals_and_score_tell_how_it_was_ranked() -> None:
    assembled = run(profile_of(section(shape="lines")), memory("a", 0.5), memory("b", 0.1))
    near, far = assembled.decisions
    assert (near.score, near.signals[0]) == (0.5, ("similarity", 0.5))
    assert (far.score, far.rank, dict(far.detail)) == (0.1, None, {"threshold": 0.2})
    by_time = run(profile_of(section(shape="lines")), memory("b", 0.1)).decisions[0]
    assert (by_time.score, by_time.rank, by_time.signals[0]) == (None, 1, ("similarity", 0.1))


def test_an_entry_needs_a_date_and_a_time_its_zone() -> None:
    with pytest.raises(InvalidAssembly, match="no date"):
        run(profile_of(section(shape="entries")), candidate("a", "x"))
    with pytest.raises(InvalidAssembly, match="zone"):
        candidate("a", "x", occurred_at=NOW.replace(tzinfo=None))


# --- Pinned and retired --------------------------------------------------------------------------------------------


def test_what_is_pinned_comes_first_however_far_it_is_and_says_so() -> None:
    found = ranking(memory("near", 0.9), memory("far", 0.01, pinned=True), memory("other", 0.1))
    assert list(found.items()) == [("far", "pinned"), ("near", "fits"), ("other", "below_relevance")]


def test_pins_count_for_the_top_and_rank_among_themselves_as_all_do() -> None:
    pins = [memory("a", 0.1, pinned=True), memory("b", 0.3, pinned=True)]
    found = ranking(*pins, memory("near", 0.9), memory("nearly", 0.8), top_k=3)
    assert list(found.items()) == [("b", "pinned"), ("a", "pinned"), ("near", "fits"), ("nearly", "outranked")]


def test_without_a_search_a_pin_comes_before_what_is_newer() -> None:
    assert list(ranking(memory("new"), memory("old", hours_ago=900, pinned=True))) == ["old", "new"]


def test_a_pin_alone_does_not_let_the_search_find_nothing_else() -> None:
    """Where nothing is near, the most recent follow the pin."""
    found = ranking(memory("pin", 0.1, pinned=True), memory("new", 0.05), memory("old", 0.01, hours_ago=3))
    assert list(found.items()) == [("pin", "pinned"), ("new", "fits"), ("old", "fits")]


def test_a_pin_has_to_fit_as_all_others_do() -> None:
    narrow = profile_of(section(shape="lines", cap=12))
    assembled = run(narrow, candidate("pin", "x" * 400, pinned=True), memory("a"))
    assert codes(assembled) == {"pin": "over_section_budget", "a": "fits"}


def test_a_retired_one_takes_no_rank_and_says_why() -> None:
    assembled = run(profile_of(section(shape="lines")), memory("old", 0.9, retired="We moved."), memory("a", 0.5))
    assert codes(assembled) == {"a": "fits", "old": "expired"}
    assert assembled.decisions[1].detail == {"reason": "We moved."}
