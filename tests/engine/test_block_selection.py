"""Blocks: each source selects within its allocation, and what it selected competes for what the whole has left.

`chars4` counts one token per four characters, so the numbers can be worked by hand.
"""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.priority import coherence, final_score
from assembly.engine.profile import Profile, Weights
from assembly.engine.scoring import words_of
from assembly.engine.types import Candidate, EngineResult
from tests.engine.factories import codes, decision_on, run, section

RELEVANCE = Weights(recency=0, relevance=1, salience=0, credibility=0, coherence=0)


def block(ref: str, text: str, score: float, *, of: str = "s", **measures: float) -> Candidate:
    return Candidate(ref, of, text, score=score, measures={"relevance": score, **measures})


def blocks(*candidates: Candidate, budget: int = 16_000, weights: Weights = RELEVANCE, **fields: Any) -> EngineResult:
    """One section of blocks under the heading `## Log`, which with its blank line counts 3 tokens."""
    return run(Profile("p", 1, (section(shape="blocks", **fields),), weights=weights), *candidates, budget=budget)


@pytest.mark.parametrize(
    ("measures", "weights", "score"),
    [
        # .5 x .2 + .9 x .4 + .25 x .8 + .15 x 0: what was not measured counts 0
        ({"recency": 0.5, "relevance": 0.9, "credibility": 0.8}, Weights(), 0.1 + 0.36 + 0.2),
        # the seed's three: 1 x .3 + .5 x .5 + .5 x .2
        ({"recency": 1, "relevance": 0.5, "salience": 0.5}, Weights(0.3, 0.5, 0.2, 0, 0), 0.65),
        ({"recency": 1}, Weights(0, 0, 0, 0, 0), 0.0),
        ({"weight": 1, "similarity": 1}, Weights(), 0.0),  # these explain, they do not count
    ],
)
def test_the_final_score_weighs_the_measures(measures: dict[str, float], weights: Weights, score: float) -> None:
    assert final_score(measures, weights) == pytest.approx(score)


def test_coherence_is_the_share_of_long_words_that_stand_around() -> None:
    around = words_of("Team Goals: ship the harbour walk by March.")
    words = words_of("The harbour walk ends at the lighthouse")
    assert coherence(words, around) == pytest.approx(2 / 4)  # without ends, lighthouse
    assert coherence(words_of("A to B"), around) == 0


@given(st.text() | st.text("aZ9_ .,-\n'é\u212a"))
def test_words_are_runs_of_letters_digits_and_underscores(text: str) -> None:
    assert words_of(text) == set(re.findall(r"\w{4,}", text.lower()))


def test_a_contradiction_is_coherent() -> None:
    around = words_of("The ferry leaves at nine")
    assert coherence(words_of("The ferry leaves at eight"), around) == pytest.approx(2 / 3)


def test_coherence_counts_what_is_in_the_context_already() -> None:
    goals, log = section("g", "Goals"), section(shape="blocks")
    weights = Weights(0, 0, 0, 0, coherence=1)
    assembled = run(
        Profile("p", 1, (goals, log), weights=weights),
        Candidate("goals", "g", "Finish the lighthouse tour."),
        block("a", "Lighthouse keys", 0.9),
        block("b", "Nothing of that", 0.1),
    )
    assert decision_on(assembled, "a").score == pytest.approx(0.5)
    assert decision_on(assembled, "b").score == 0


def test_the_best_score_stands_first_and_equals_by_ref() -> None:
    assembled = blocks(block("b", "two", 0.5), block("a", "one", 0.5), block("c", "three", 0.9))
    assert assembled.content == "## Log\n\nthree\n\none\n\ntwo"
    assert [decision.rank for decision in assembled.decisions] == [1, 2, 3]


def test_a_source_selects_within_its_allocation_by_its_own_score() -> None:
    # heading 2 (## Log and a blank line: 8 / 4); each item with its blank line (10 + 2) / 4 = 3: two of three fit in 8
    first, second, third = (
        Candidate(ref, "s", letter * 10, score=own, measures={"relevance": final})
        for ref, letter, own, final in (("a", "A", 0.9, 0.1), ("b", "B", 0.2, 0.9), ("c", "C", 0.8, 0.2))
    )
    assembled = blocks(first, second, third, cap=8)
    assert codes(assembled) == {"b": "over_section_budget", "c": "fits", "a": "fits"}
    assert decision_on(assembled, "b").detail["needed"] == 3
    assert assembled.content == f"## Log\n\n{'C' * 10}\n\n{'A' * 10}"


def test_a_share_is_the_floor_of_the_percentage_of_the_budget() -> None:
    assembled = blocks(block("a", "A" * 10, 0.9), block("b", "B" * 10, 0.8), budget=50, share=11.9)
    assert assembled.sections[0].cap == 5  # 50 x 11.9 % = 5.95
    assert codes(assembled) == {"a": "fits", "b": "over_section_budget"}


@pytest.mark.parametrize(
    ("budget", "share", "cap", "tokens"),
    [
        (16_000, 30, None, 4_800),
        (1_000, 5, None, 50),  # the seed's stack: root, path, completed siblings
        (1_000, 15, None, 150),
        (1_000, 10, None, 100),
        (999, 15, None, 149),  # 149.85
        (1_000, 15, 120, 120),  # the tighter of both
        (1_000, 15, 200, 150),
        (0, 15, None, 0),
        (1_000, None, None, None),
    ],
)
def test_an_allocation_is_worked_by_hand(budget: int, share: float | None, cap: int | None, tokens: int | None) -> None:
    assert section(shape="blocks", share=share, cap=cap).cap_within(budget) == tokens


def test_what_was_selected_competes_over_all_sections_for_what_is_left() -> None:
    events, chunks = section("e", "Log", "blocks"), section("c", "Doc", "blocks")
    assembled = run(
        Profile("p", 1, (events, chunks), weights=RELEVANCE),
        block("e1", "A" * 10, 0.5, of="e"),
        block("e2", "B" * 10, 0.3, of="e"),
        block("c1", "C" * 10, 0.9, of="c"),
        block("c2", "D" * 10, 0.4, of="c"),
        budget=13,  # both headings 2 + 2, and three items of 3
    )
    assert codes(assembled) == {"e1": "fits", "e2": "over_total_budget", "c1": "fits", "c2": "fits"}
    assert assembled.content == f"## Log\n\n{'A' * 10}\n\n## Doc\n\n{'C' * 10}\n\n{'D' * 10}"


def test_a_misfit_is_passed_over_and_the_next_gets_its_chance() -> None:
    assembled = blocks(block("a", "A" * 400, 0.9), block("b", "B" * 10, 0.1), budget=20)
    assert codes(assembled) == {"a": "over_total_budget", "b": "fits"}


@pytest.mark.parametrize(("overflow", "code"), [("cut", "truncated"), ("drop", "over_total_budget")])
def test_where_nothing_has_room_the_best_is_cut_or_dropped(overflow: str, code: str) -> None:
    assembled = blocks(block("a", "A" * 400, 0.9), block("b", "B" * 800, 0.8), budget=20, overflow=overflow)
    assert codes(assembled) == {"a": code, "b": "over_total_budget"}
    assert assembled.tokens <= 20
    assert assembled.content.endswith("... [truncated]") == (code == "truncated")


def test_beyond_top_k_is_outranked_by_the_final_score() -> None:
    assembled = blocks(block("a", "one", 0.9), block("b", "two", 0.8), block("c", "three", 0.7), top_k=2)
    assert codes(assembled) == {"a": "fits", "b": "fits", "c": "outranked"}
    assert decision_on(assembled, "c").detail["last_score"] == 0.8


def test_one_row_in_two_sections_and_one_text_in_two_rows_get_in_once() -> None:
    events, results = section("e", "Log", "blocks"), section("r", "Results", "blocks")
    assembled = run(
        Profile("p", 1, (events, results), weights=RELEVANCE),
        block("event:1@1", "[time] tool_result: ok", 0.5, of="e"),
        block("event:1@1", "**make**: ok", 0.9, of="r"),
        block("event:2@1", "same  words", 0.4, of="e"),
        block("event:3@1", "same\nwords", 0.3, of="e"),
    )
    assert [(one.section, one.ref, one.code.value) for one in assembled.decisions] == [
        ("e", "event:1@1", "duplicate"),
        ("e", "event:2@1", "fits"),
        ("e", "event:3@1", "duplicate"),
        ("r", "event:1@1", "fits"),
    ]
    assert decision_on(assembled, "event:3@1").detail == {"by": "event:2@1"}


def test_of_equal_twins_the_later_section_has_it() -> None:
    events, results = section("a", "Log", "blocks"), section("z", "Results", "blocks")
    assembled = run(
        Profile("p", 1, (events, results), weights=RELEVANCE),
        block("event:1@1", "[time] tool_result: ok", 0.5, of="a"),
        block("event:1@1", "**make**: ok", 0.5, of="z"),
    )
    assert assembled.content == "## Results\n\n**make**: ok"


def test_a_twin_has_its_chance_where_the_better_one_has_no_room() -> None:
    events, results = section("e", "Log", "blocks", cap=0), section("r", "Results", "blocks")
    assembled = run(
        Profile("p", 1, (events, results), weights=RELEVANCE),
        block("event:1@1", "same", 0.9, of="e"),
        block("event:1@1", "same", 0.1, of="r"),
    )
    assert [(one.section, one.code.value) for one in assembled.decisions] == [
        ("e", "duplicate"),
        ("r", "fits"),
    ]


def test_what_the_request_excludes_is_filtered_and_the_signals_are_on_record() -> None:
    assembled = blocks(block("event:1@1", "one", 0.9, recency=0.25))
    signals = dict(decision_on(assembled, "event:1@1").signals)
    assert signals == {"source_score": 0.9, "relevance": 0.9, "recency": 0.25}
