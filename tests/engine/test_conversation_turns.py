"""The turns of a conversation: the latest have the first chance, and they are shown in the order they were said."""

from assembly.engine.profile import Profile, Weights
from assembly.engine.types import Candidate, EngineResult
from tests.engine.factories import candidate, codes, decision_on, run, section

TURNS = section("t", "Turns", "turns")


def turn(number: int, text: str, role: str = "user") -> Candidate:
    return Candidate(f"turn:{number}", "t", text, kind=role, position=number)


def said(*turns: Candidate, budget: int = 16_000) -> EngineResult:
    return run(Profile("p", 1, (TURNS,)), *turns, budget=budget)


def test_turns_stand_in_the_order_they_were_said() -> None:
    assembled = said(turn(2, "Bye."), turn(0, "Hello."), turn(1, "Yes?", "assistant"))
    assert assembled.content == "## Turns\n\n**user**: Hello.\n\n**assistant**: Yes?\n\n**user**: Bye."
    assert list(codes(assembled)) == ["turn:2", "turn:1", "turn:0"]


def test_the_oldest_go_first_where_room_is_short() -> None:
    # The heading takes 3 tokens (10 / 4), a turn of 14 characters with its lead and blank line (10 + 14 + 2) / 4 = 7.
    assembled = said(*(turn(number, str(number) * 14) for number in range(4)), budget=18)
    assert codes(assembled) == {
        "turn:3": "fits", "turn:2": "fits", "turn:1": "over_total_budget", "turn:0": "over_total_budget",
    }  # fmt: skip
    assert decision_on(assembled, "turn:1").detail["needed"] == 6


def test_a_turn_too_long_is_passed_over() -> None:
    assembled = said(turn(0, "short"), turn(1, "x" * 900), turn(2, "short too"), budget=30)
    assert codes(assembled) == {"turn:2": "fits", "turn:1": "over_total_budget", "turn:0": "fits"}


def test_where_none_has_room_the_latest_is_cut() -> None:
    assembled = said(turn(0, "y" * 900), turn(1, "x" * 900), budget=30)
    assert codes(assembled) == {"turn:1": "truncated", "turn:0": "over_total_budget"}
    assert assembled.tokens <= 30


def test_turns_have_their_room_before_blocks_compete_for_theirs() -> None:
    blocks = section("b", "Log", "blocks")
    assembled = run(
        Profile("p", 1, (blocks, TURNS), weights=Weights(relevance=1)),
        Candidate("event:1", "b", "A" * 200, score=1, measures={"relevance": 1}),
        turn(0, "z" * 100),
        budget=60,
    )
    assert codes(assembled) == {"event:1": "truncated", "turn:0": "fits"}
    assert assembled.tokens <= 60


def test_a_record_of_an_earlier_engine_gives_the_bytes_of_that_engine() -> None:
    # The first version kept room for the heading alone (12 / 4), the second for what stands before it, too (14 / 4).
    turns, blocks = section("t", "Sayings", "turns"), section("b", "Log", "blocks")
    profile = Profile("p", 1, (blocks, turns), weights=Weights(relevance=1))
    block = Candidate("event:1", "b", "A" * 400, score=1, measures={"relevance": 1})
    kept = {
        version: decision_on(run(profile, block, turn(0, "z" * 100), budget=60, engine_version=version), "event:1")
        for version in (1, 2)
    }
    assert kept[1].tokens == kept[2].tokens + 1


def test_a_turn_that_has_no_room_by_a_token_takes_it_from_no_other() -> None:
    # What stands before the heading counts, too: without it, earlier engines chose the turn, and had to take it back.
    files, turns = section("s"), section("t", "Sayings", "turns")
    said = (candidate("file:1", "Walk"), turn(0, "No."), turn(1, "tea " * 5 + "ends"), turn(2, "Yes."))
    told = {
        version: run(Profile("p", 1, (files, turns)), *said, budget=23, tokenizer="cl100k_base", engine_version=version)
        for version in (2, 3)
    }
    assert codes(told[3]) == {"file:1": "fits", "turn:2": "fits", "turn:1": "over_total_budget", "turn:0": "fits"}
    assert codes(told[2])["turn:0"] == "over_total_budget"
    assert told[3].tokens <= 23
