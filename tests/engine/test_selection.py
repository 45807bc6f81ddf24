"""What gets in: caps, the whole budget, misfits, cuts. Worked by hand with chars4: four characters are one token."""

import datetime as dt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assembly.engine.assemble import assemble
from assembly.engine.codes import WarningCode
from assembly.engine.escaping import escape_text
from assembly.engine.profile import Profile
from assembly.engine.rendering import render_item
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineRequest, InvalidAssembly
from tests.engine.factories import MARKER, NOW, candidate, codes, decision_on, profile_of, run, section, texts

REQUIRED = section("r", "Identity", required=True)
TEN = profile_of(section(cap=10))  # 40 characters, of which "## Log\n" takes 7


def status(profile: Profile, *candidates: Candidate, budget: int = 16_000) -> str:
    return run(profile, *candidates, budget=budget).sections[-1].status


# --- One text ------------------------------------------------------------------------------------------------------


def test_a_text_that_fills_its_cap_to_the_last_character_is_whole() -> None:
    assembled = run(TEN, candidate("a", "x" * 33))
    assert assembled.content == "## Log\n" + "x" * 33
    assert (codes(assembled), assembled.sections[0].status, assembled.tokens) == ({"a": "fits"}, "whole", 10)
    assert not assembled.truncated


def test_a_text_one_character_longer_than_its_cap_is_cut_and_the_marker_stands_inside() -> None:
    assembled = run(TEN, candidate("a", "x" * 34))
    assert assembled.content == "## Log\n" + "x" * 17 + " ... [truncated]"
    assert (codes(assembled), assembled.sections[0].status, assembled.tokens) == ({"a": "truncated"}, "cut", 10)
    assert assembled.truncated
    assert dict(decision_on(assembled, "a").detail) == {
        "kept_paragraphs": 0,
        "of_paragraphs": 1,
        "kept_chars": 17,
        "of_chars": 34,
        "steps": [{"step": "truncate", "before": 9, "after": 9}],
    }


def test_the_budget_cuts_like_a_cap() -> None:
    assembled = run(profile_of(section()), candidate("a", "x" * 34), budget=10)
    assert assembled.content == "## Log\n" + "x" * 17 + MARKER


def test_a_cut_ends_before_white_space() -> None:
    assembled = run(TEN, candidate("a", "x" * 10 + " " * 20 + "y" * 20))
    assert assembled.content == "## Log\n" + "x" * 10 + MARKER
    assert decision_on(assembled, "a").detail["kept_chars"] == 10


@pytest.mark.parametrize(("cap", "content"), [(6, "## Log\nx ... [truncated]"), (5, "")])
def test_a_cut_keeps_at_least_one_character_or_is_not_made(cap: int, content: str) -> None:
    # 7 + 1 + 16 characters are 6 tokens
    assembled = run(profile_of(section(cap=cap)), candidate("a", "x" + "\n" * 100 + "y"))
    assert assembled.content == content
    assert assembled.sections[0].status == ("cut" if content else "left_out")


def test_what_is_left_out_says_which_bound_was_the_tighter_and_what_was_missing() -> None:
    text = candidate("a", "x" * 33)
    by_cap = run(profile_of(section(cap=3)), text, budget=4)
    by_budget = run(profile_of(section(cap=4)), text, budget=4)
    assert (codes(by_cap), codes(by_budget)) == ({"a": "over_section_budget"}, {"a": "over_total_budget"})
    assert (dict(by_cap.decisions[0].detail), dict(by_budget.decisions[0].detail)) == ({"needed": 7}, {"needed": 6})
    assert by_cap.decisions[0].tokens == 0
    assert by_cap.decisions[0].tokens_full == 9
    assert by_cap.truncated


def test_an_early_section_may_leave_a_late_one_nothing() -> None:
    profile = profile_of(section("s", "Log"), section("t", "Base", cap=2_000))
    assembled = run(profile, candidate("a", "x" * 73), candidate("b", "late", section="t"), budget=20)
    assert codes(assembled) == {"a": "fits", "b": "over_total_budget"}
    assert [result.status for result in assembled.sections] == ["whole", "left_out"]


def test_the_blank_line_between_sections_counts_towards_the_cap_of_the_later_one() -> None:
    # 8 characters are 2 tokens; then 2 of the blank line, 7 of the heading, 31 of text make 40
    profile = profile_of(section("s", "L"), section("t", "Log", cap=10))
    for length, code in ((31, "fits"), (32, "truncated")):
        assembled = run(profile, candidate("a", "xxx"), candidate("b", "y" * length, section="t"))
        assert (codes(assembled)["b"], assembled.sections[1].tokens) == (code, 10)


# --- Never cut -----------------------------------------------------------------------------------------------------


def test_what_is_required_is_never_cut_even_when_it_is_the_whole_budget() -> None:
    profile = profile_of(REQUIRED, section())
    assembled = run(profile, candidate("i", "x" * 28, section="r"), candidate("a", "late"), budget=10)
    assert assembled.content == "## Identity\n" + "x" * 28
    assert (codes(assembled), assembled.warnings) == ({"i": "required", "a": "over_total_budget"}, ())


def test_what_is_required_and_larger_than_the_budget_stands_alone_with_a_warning() -> None:
    profile = profile_of(REQUIRED, section(), section("t", "Facts", "lines"))
    assembled = run(
        profile,
        candidate("i", "x" * 29, section="r"),
        candidate("a", "text"),
        candidate("b", "fact", section="t"),
        candidate("c", " ", section="t"),
        budget=10,
    )
    assert assembled.content == "## Identity\n" + "x" * 29
    assert assembled.warnings == (WarningCode.BUDGET_EXCEEDED,)
    assert codes(assembled) == {"i": "required", "a": "over_total_budget", "b": "over_total_budget", "c": "empty"}


def test_several_required_sections_stand_together() -> None:
    profile = profile_of(REQUIRED, section("q", "Orders", required=True), section())
    assembled = run(
        profile, candidate("i", "me", section="r"), candidate("o", "do", section="q"), candidate("a", "x"), budget=1
    )
    assert assembled.content == "## Identity\nme\n\n## Orders\ndo"
    assert assembled.warnings == (WarningCode.BUDGET_EXCEEDED,)


def test_no_budget_at_all_gives_no_text_and_no_warning() -> None:
    assembled = run(TEN, candidate("a", "x"), budget=0)
    assert (assembled.content, assembled.tokens, assembled.warnings) == ("", 0, ())
    assert codes(assembled) == {"a": "over_total_budget"}


# --- Items ---------------------------------------------------------------------------------------------------------


def facts(*texts: str) -> list[Candidate]:
    return [candidate(f"m{number}", text, similarity=0.9 - number / 10) for number, text in enumerate(texts)]


def test_a_misfit_is_skipped_and_the_next_ones_still_get_their_chance() -> None:
    profile = profile_of(section(shape="lines", cap=10))
    # "## Log\n- aaaaa" is 14 characters, the second would be far too long, "\n- ccccc" makes 22, "\n- " + 15 makes 40
    assembled = run(profile, *facts("a" * 5, "b" * 50, "c" * 5, "d" * 15))
    assert assembled.content == "## Log\n- aaaaa\n- ccccc\n- " + "d" * 15
    assert list(codes(assembled).values()) == ["fits", "over_section_budget", "fits", "fits"]
    assert assembled.sections[0].status == "partial"
    assert assembled.truncated


def test_the_separator_between_items_counts() -> None:
    profile = profile_of(section(shape="lines", cap=10))
    assembled = run(profile, *facts("a" * 5, "c" * 5, "d" * 16))
    assert list(codes(assembled).values()) == ["fits", "fits", "over_section_budget"]
    assert dict(decision_on(assembled, "m2").detail) == {"needed": 1}


def test_where_nothing_of_a_section_got_in_its_best_item_is_cut() -> None:
    profile = profile_of(section(shape="lines", cap=10))
    # 40 - 7 - 2 - 16 = 15 characters
    assembled = run(profile, *facts("a" * 60, "b" * 50))
    assert assembled.content == "## Log\n- " + "a" * 15 + MARKER
    assert list(codes(assembled).values()) == ["truncated", "over_section_budget"]
    assert dict(decision_on(assembled, "m1").detail) == {"needed": 5}  # at its turn, when nothing was in
    assert assembled.sections[0].status == "cut"


def test_no_item_is_cut_where_a_lesser_one_got_in() -> None:
    profile = profile_of(section(shape="lines", cap=10))
    assembled = run(profile, *facts("a" * 60, "b"))
    assert assembled.content == "## Log\n- b"
    assert list(codes(assembled).values()) == ["over_section_budget", "fits"]


def test_a_day_keeps_its_date_when_it_is_cut() -> None:
    profile = profile_of(section(shape="entries", cap=15))
    day = candidate("day", "word " * 40, date=dt.date(2025, 3, 14))
    # 60 - 7 - 15 - 16 = 22 characters, of which the last two are "wo"
    assert run(profile, day).content == "## Log\n### 2025-03-14\nword word word word wo" + MARKER
    too_small = run(profile_of(section(shape="entries", cap=9)), day)
    assert (too_small.content, codes(too_small)) == ("", {"day": "over_section_budget"})


def test_the_outranked_do_not_move_up_when_one_of_the_top_does_not_fit() -> None:
    profile = profile_of(section(shape="lines", cap=10, top_k=2))
    assembled = run(profile, *facts("a", "b" * 50, "c"))
    assert list(codes(assembled).values()) == ["fits", "over_section_budget", "outranked"]


def test_a_required_section_of_items_takes_all_that_are_ranked() -> None:
    profile = profile_of(section(shape="lines", required=True, top_k=2))
    assembled = run(profile, *facts("a" * 50, "b" * 50, "c"), budget=1)
    assert list(codes(assembled).values()) == ["required", "required", "outranked"]


def test_tokens_of_items_and_sections_add_up_to_the_whole() -> None:
    profile = profile_of(section("s", "Log"), section("t", "Facts", "lines", cap=10))
    memories = [candidate(ref, ref * 5, section="t", occurred_at=NOW) for ref in "bcd"]
    assembled = run(profile, candidate("a", "xxx"), *memories)
    # 10 characters; then "\n\n## Facts\n- bbbbb" to 28, "\n- ccccc" to 36, "\n- ddddd" to 44
    assert [decision.tokens for decision in assembled.decisions] == [3, 4, 2, 2]
    assert [result.tokens for result in assembled.sections] == [3, 8]
    assert [decision.tokens_full for decision in assembled.decisions] == [1, 2, 2, 2]
    assert assembled.tokens == 11


# --- The longest cut, with a real tokenizer ------------------------------------------------------------------------


@given(body=texts(30), cap=st.integers(8, 60))
def test_no_longer_cut_would_fit(body: str, cap: int) -> None:
    count = get_tokenizer("cl100k_base").count
    body = body.rstrip()
    assume(count(f"## Log\n{body}") > cap)
    assume(body.strip())
    assume(escape_text(body).text == body)  # else another text is cut
    assembled = run(profile_of(section(cap=cap)), candidate("a", body), tokenizer="cl100k_base")
    decision = decision_on(assembled, "a")
    kept = int(decision.detail.get("kept_chars") or 0)
    longer = [end for end in range(kept + 1, len(body)) if not body[end - 1].isspace()]
    shown = render_item(section(), candidate("a", body))
    fits = [end for end in longer if shown.can_end(end) and count(f"## Log\n{body[:end]}{shown.ending(end)}") <= cap]
    assert fits == []


# --- Mistakes of the program ---------------------------------------------------------------------------------------


def test_a_candidate_of_an_unknown_section_is_refused() -> None:
    with pytest.raises(InvalidAssembly, match="no section of test"):
        run(TEN, candidate("a", "x", section="elsewhere"))


def test_a_ref_may_be_given_once_per_section() -> None:
    profile = profile_of(section("s", shape="lines"), section("t", shape="lines"))
    run(profile, candidate("a", "x"), candidate("a", "x", section="t"))
    with pytest.raises(InvalidAssembly, match="twice"):
        run(profile, candidate("a", "x"), candidate("a", "x"))


def test_a_section_that_is_one_text_takes_one_candidate() -> None:
    with pytest.raises(InvalidAssembly, match="one text"):
        run(TEN, candidate("a", "x"), candidate("b", "y"))


def test_the_tokenizer_must_be_the_one_that_is_recorded() -> None:
    with pytest.raises(InvalidAssembly, match="cl100k_base"):
        assemble(EngineRequest(10, "", "cl100k_base", NOW), TEN, [], get_tokenizer("chars4"))


@pytest.mark.parametrize(
    "sections",
    [(section("s"), section("s")), (section("s"), REQUIRED), (section("s", required=True, cap=5),)],
    ids=["a key twice", "required after others", "required with a cap"],
)
def test_a_profile_that_contradicts_itself_is_refused(sections: tuple[object, ...]) -> None:
    with pytest.raises(InvalidAssembly):
        profile_of(*sections)  # type: ignore[arg-type]


@pytest.mark.parametrize(("budget", "now"), [(-1, NOW), (1, NOW.replace(tzinfo=None))])
def test_a_request_needs_a_budget_and_a_zone(budget: int, now: dt.datetime) -> None:
    with pytest.raises(InvalidAssembly):
        EngineRequest(budget, "", "chars4", now)
