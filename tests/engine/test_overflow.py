"""The ladder, step by step. `chars4` counts one token per four characters, so the numbers can be worked by hand.

An item of 398 characters is 100 tokens, with the blank line after it, too; the heading `## Log` with its blank line 2.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from assembly.engine.profile import STEPS, Profile, Section, Step, Weights
from assembly.engine.reasons import decision_sentence
from assembly.engine.types import MEMORY_LAYER_SINCE, Candidate, EngineResult, Summary, WantedSummary
from tests.engine.factories import NOW, codes, decision_on, run, section

RELEVANCE = Weights(recency=0, relevance=1, salience=0, credibility=0, coherence=0)
LOG = section("s", shape="blocks")
TURNS = section("t", "Turns", "turns")


def profile(*sections: Section, steps: Sequence[Step] = STEPS, fill: bool = False) -> Profile:
    return Profile("p", 1, sections, weights=RELEVANCE, over_budget=tuple(steps), fill=fill)


def block(ref: str, score: float, characters: int = 398, **fields: Any) -> Candidate:
    """Of one letter, which no other block has."""
    return Candidate(ref, fields.pop("of", "s"), ref * characters, score=score, measures={"relevance": score}, **fields)


def turn(number: int, characters: int) -> Candidate:
    """Ten characters name the speaker; the rest are sentences of 16 characters with the space after each."""
    said = "".join(f"Word {number} of {place:02}... "[:15] + " " for place in range(characters // 16))
    return Candidate(f"turn:{number}", "t", said.strip(), kind="user", position=number)


def steps_of(assembled: EngineResult, ref: str) -> list[tuple[str, int, int]]:
    return [
        (step["step"], step["before"], step["after"]) for step in decision_on(assembled, ref).detail.get("steps", ())
    ]


FIVE = [block(ref, score) for ref, score in zip("abcde", (0.9, 0.8, 0.7, 0.6, 0.5), strict=True)]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (502, ["fits"] * 5),
        (501, ["fits"] * 4 + ["over_total_budget"]),
        (402, ["fits"] * 4 + ["over_total_budget"]),
        (401, ["fits"] * 3 + ["over_total_budget"] * 2),
        # no more than half of five are dropped: then the weakest of those that stay are summarised, to 33 tokens
        (301, ["fits", "fits", "summarised"] + ["over_total_budget"] * 2),
        (234, ["fits", "summarised", "summarised"] + ["over_total_budget"] * 2),
        (104, ["summarised"] * 3 + ["over_total_budget"] * 2),
    ],
)
def test_the_weaker_half_goes_first_then_the_weakest_are_summarised(budget: int, expected: list[str]) -> None:
    assembled = run(profile(LOG), *FIVE, budget=budget)
    assert list(codes(assembled).values()) == expected
    assert assembled.tokens <= budget


def test_what_was_dropped_and_what_was_shortened_are_on_record() -> None:
    assembled = run(profile(LOG), *FIVE, budget=301)
    assert steps_of(assembled, "e") == [("drop", 100, 0)]
    assert steps_of(assembled, "c") == [("summarise", 100, 33)]
    assert steps_of(assembled, "a") == []
    assert decision_on(assembled, "c").tokens_full == 100
    assert decision_sentence(decision_on(assembled, "e"), "Log") == (
        "Excluded for other items of the context with higher scores."
    )
    assert decision_sentence(decision_on(assembled, "c"), "Log") == "Summarised to save tokens: 33 of 100 tokens."


@pytest.mark.parametrize(("section_", "code"), [(LOG, "summarised"), (TURNS, "compacted")])
def test_what_was_shortened_counts_as_truncated_since_version_6(section_: Section, code: str) -> None:
    given = [block("a", 0.9)] if section_ is LOG else [turn(number, 400) for number in range(7)]
    room = run(profile(section_), *given).tokens - 20
    older, newer = (
        run(profile(section_), *given, budget=room, engine_version=version)
        for version in (MEMORY_LAYER_SINCE - 1, MEMORY_LAYER_SINCE)
    )
    assert set(codes(newer).values()) - {"fits"} == {code}
    assert (older.content, older.truncated, newer.truncated) == (newer.content, False, True)


def test_a_section_is_relieved_by_itself_before_the_whole() -> None:
    capped = section("s", shape="blocks", cap=302)
    assembled = run(profile(capped), *FIVE, budget=150)
    assert codes(assembled) == {
        "a": "fits", "b": "summarised", "c": "over_total_budget", "d": "over_section_budget",
        "e": "over_section_budget",
    }  # fmt: skip
    assert (
        decision_sentence(decision_on(assembled, "e"), "Log") == "Excluded for other items of Log with higher scores."
    )


def test_each_step_is_taken_only_where_the_profile_takes_it() -> None:
    dropping = run(profile(LOG, steps=["drop"]), *FIVE, budget=202)
    assert list(codes(dropping).values()) == ["fits", "fits"] + ["over_total_budget"] * 3
    assert decision_on(dropping, "c").detail["needed"] == 100
    summarising = run(profile(LOG, steps=["summarise"]), *FIVE, budget=370)
    assert list(codes(summarising).values()) == ["fits", "fits", "fits", "summarised", "summarised"]
    nothing = run(profile(LOG, steps=[]), *FIVE, budget=370)
    assert list(codes(nothing).values()) == ["fits", "fits", "fits", "over_total_budget", "over_total_budget"]


def test_long_outputs_of_tools_are_summarised_before_weaker_items() -> None:
    results = replace(section("r", "Results", "blocks"), source="tool_results")
    given = [block("a", 0.2), block("b", 0.9, 1_198, of="r"), block("c", 0.8, of="r")]
    assembled = run(profile(LOG, results, steps=["summarise"]), *given, budget=400)
    assert codes(assembled) == {"a": "fits", "b": "summarised", "c": "fits"}
    assert steps_of(assembled, "b") == [("summarise", 300, 100)]


@pytest.mark.parametrize(
    ("fields", "characters", "expected"),
    [
        ({}, 237, {"a": "fits", "b": "summarised"}),  # 60 tokens
        ({}, 236, {"a": "summarised", "b": "fits"}),  # 59 are short enough
        ({"overflow": "drop"}, 237, {"a": "fits", "b": "over_total_budget"}),
    ],
)
def test_what_is_short_and_what_is_whole_or_useless_is_not_summarised(
    fields: dict[str, Any], characters: int, expected: dict[str, str]
) -> None:
    log = section("s", shape="blocks", **fields)
    assembled = run(profile(log, steps=["summarise"]), block("a", 0.9), block("b", 0.1, characters), budget=130)
    assert codes(assembled) == expected


def test_what_is_required_is_beyond_the_ladder() -> None:
    required = section("s", shape="lines", required=True)
    given = [Candidate(ref, "s", ref * 398, occurred_at=NOW) for ref in "ab"]
    assembled = run(profile(required), *given, budget=150)
    assert codes(assembled) == {"a": "required", "b": "required"}


def test_twins_go_together() -> None:
    """What says the same as one that makes room makes room, too, and of two that say the same the best counts."""
    best, other, twin = block("a", 0.9), block("b", 0.5), structs.replace(block("a", 0.1), ref="c")
    assembled = run(profile(LOG, steps=["drop"]), best, other, twin, budget=110)
    assert codes(assembled) == {"a": "fits", "b": "over_total_budget", "c": "duplicate"}
    above, twins = block("d", 0.95), [block("e", 0.2), structs.replace(block("e", 0.1), ref="f")]
    assembled = run(profile(LOG, steps=["drop"]), above, *twins, budget=150)
    assert codes(assembled) == {"d": "fits", "e": "over_total_budget", "f": "over_total_budget"}
    assert steps_of(assembled, "f") == [("drop", 100, 0)]


# --- Turns ---------------------------------------------------------------------------------------------------------


def test_older_turns_are_compacted_from_the_oldest_and_the_latest_four_never() -> None:
    given = [turn(number, 400) for number in range(7)]
    whole = run(profile(TURNS), *given, budget=16_000).tokens
    one, all_older = (run(profile(TURNS), *given, budget=budget) for budget in (whole - 20, whole - 190))
    assert list(codes(one).values()) == ["fits"] * 6 + ["compacted"]
    assert list(codes(all_older).values()) == ["fits"] * 4 + ["compacted"] * 3
    [(step, before, after)] = steps_of(one, "turn:0")
    assert (step, before) == ("compact", decision_on(one, "turn:0").tokens_full)
    assert before // 4 < after <= before // 3 + 1
    compacted = decision_on(one, "turn:0")
    assert decision_sentence(compacted, "Turns") == (
        f"Shortened to save tokens: {compacted.tokens} of {compacted.tokens_full} tokens."
    )


def test_what_is_over_with_all_older_turns_compacted_is_left_out_oldest_first() -> None:
    given = [turn(number, 400) for number in range(7)]
    assembled = run(profile(TURNS), *given, budget=420)
    assert list(codes(assembled).values()) == ["fits"] * 4 + ["over_total_budget"] * 3
    assert steps_of(assembled, "turn:2")[0][0] == "compact"
    assert "more token" in decision_sentence(decision_on(assembled, "turn:2"), "Turns")


def test_a_turn_just_said_is_cut_rather_than_compacted() -> None:
    assembled = run(profile(TURNS, fill=True), turn(0, 800), budget=100)
    assert codes(assembled) == {"turn:0": "truncated"}
    [(step, before, after)] = steps_of(assembled, "turn:0")
    assert (step, before) == ("truncate", decision_on(assembled, "turn:0").tokens_full)
    assert after == 98


# --- Filling -------------------------------------------------------------------------------------------------------


def test_what_made_room_comes_back_where_a_tenth_is_free() -> None:
    given = [block("a", 0.9), block("b", 0.2, 1_998), block("c", 0.1)]
    plain, filled = (run(profile(LOG, steps=["drop"], fill=fill), *given, budget=550) for fill in (False, True))
    assert codes(plain) == {"a": "fits", "b": "over_total_budget", "c": "over_total_budget"}
    assert codes(filled) == {"a": "fits", "b": "over_total_budget", "c": "fits"}
    assert steps_of(filled, "c") == []


def test_it_comes_back_shorter_where_there_is_no_room_for_the_whole() -> None:
    given = [block("a", 0.9), block("b", 0.2), block("c", 0.1, 1_198)]
    assembled = run(profile(LOG, steps=["drop", "summarise"], fill=True), *given, budget=350)
    assert codes(assembled) == {"a": "fits", "b": "fits", "c": "summarised"}
    assert steps_of(assembled, "c") == [("summarise", 300, 100)]


def test_nothing_comes_back_where_nine_tenths_are_used() -> None:
    given = [block("a", 0.9, 1_598), block("b", 0.1, 78)]  # 400 and 20 tokens
    for budget, code in ((421, "over_total_budget"), (422, "fits")):
        assert codes(run(profile(LOG, steps=["drop"], fill=True), *given, budget=budget)) == {"a": "fits", "b": code}


# --- Summaries -----------------------------------------------------------------------------------------------------


def test_wanted_are_exactly_the_summaries_that_are_in() -> None:
    first = run(profile(LOG), *FIVE, budget=301)
    assert first.wanted == (WantedSummary("s", "c", "c" * 398, 33),)
    assert "c" * 132 in first.content  # its beginning holds the place
    told = [structs.replace(item, summary=Summary("Three C.", "luna")) if item.ref == "c" else item for item in FIVE]
    second = run(profile(LOG), *told, budget=301)
    assert second.wanted == ()
    assert second.content.endswith("\n\nThree C.")
    assert decision_on(second, "c").detail["model"] == "luna"
    assert steps_of(second, "c") == [("summarise", 100, 2)]


def test_a_text_that_cannot_be_summarised_stays_whole_or_is_left_out() -> None:
    told = [structs.replace(item, summary=Summary("", "luna")) if item.ref == "c" else item for item in FIVE]
    assembled = run(profile(LOG), *told, budget=301)
    assert list(codes(assembled).values()) == ["fits", "summarised", "fits", "over_total_budget", "over_total_budget"]
    assert [want.ref for want in assembled.wanted] == ["b"]


def test_the_room_of_a_summary_is_a_third_less_what_stands_before_it() -> None:
    lines = section("s", shape="lines")
    given = [Candidate(ref, "s", ref * 591, kind="fact", occurred_at=NOW) for ref in "ab"]  # "- [fact] ": 9 characters
    [wanted] = run(profile(lines, steps=["summarise"]), *given, budget=230).wanted
    assert (wanted.ref, wanted.max_tokens) == ("b", 150 // 3 - 3)


def test_an_appended_event_makes_nothing_shorter() -> None:
    latest = Section("latest_activity", "Latest Activity", "L6", "recent_events", "sequence")
    event = Candidate("event", "latest_activity", "x" * 398)
    assembled = run(profile(latest, LOG), event, *FIVE, budget=350, appended="event")
    assert {*codes(assembled).values()} == {"fits", "over_total_budget"}
    assert assembled.wanted == ()
