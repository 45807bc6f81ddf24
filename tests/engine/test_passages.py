"""Passages of long memories: which part is chosen, and when it stands for the whole."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.codes import Code
from assembly.engine.overflow import PASSAGE_TOKENS
from assembly.engine.passages import AFTER_MARK, BEFORE_MARK, passage_of
from assembly.engine.profile import STEPS, Profile, Section, Step
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineResult
from tests.engine.factories import codes, decision_on, run, section

TOKENIZER = get_tokenizer("chars4")
MEMORIES = section("m", "Memories", "lines")
TOPIC = "Where is the boiler repaired?"
BOILER = "The boiler was taken to a workshop in Leeds, where a fitter named Ada replaced the valve within two days."


def padding(word: str, sentences: int) -> str:
    """Return sentences of 130 characters that share no word with the topic."""
    return " ".join(f"{word} {place:03} ".ljust(129, "z") + "." for place in range(sentences))


def page(word: str, middle: str, sentences: int = 12) -> str:
    return f"{padding(word, sentences)} {middle} {padding(word * 2, sentences)}"


def memory(ref: str, similarity: float, text: str, **fields: Any) -> Candidate:
    return Candidate(ref, "m", text, similarity=similarity, **fields)


def profile(*sections: Section, steps: tuple[Step, ...] = STEPS, fill: bool = False) -> Profile:
    return Profile("p", 1, sections or (MEMORIES,), over_budget=steps, fill=fill)


PAGES = [memory(ref, near, page(word, BOILER)) for ref, near, word in (("a", 0.9, "one"), ("b", 0.8, "two"))]
WHOLE = TOKENIZER.count(f"- {PAGES[0].text}")


def test_the_part_with_the_words_of_the_topic_is_told_with_what_stands_around_it() -> None:
    passage = passage_of(page("one", BOILER), TOPIC, 150, TOKENIZER)
    assert BOILER in passage
    assert passage.startswith(BEFORE_MARK + "one 01")
    assert passage.endswith("z." + AFTER_MARK)
    assert 100 < TOKENIZER.count(passage) <= 150


def test_other_forms_of_the_words_count() -> None:
    text = page("one", "Two workshops offered repairing.")
    assert "offered repairing" in passage_of(text, TOPIC, 100, TOKENIZER)


def test_rare_words_decide() -> None:
    """“Where” stands in every part, so it tells nothing."""
    text = " ".join(f"Where it is, where it was, {place} ".ljust(129, "y") + "." for place in range(20)) + " " + BOILER
    assert passage_of(text, TOPIC, 60, TOKENIZER).endswith(BOILER)


def test_nothing_is_chosen_where_no_word_is_shared_or_nothing_has_room() -> None:
    assert passage_of(padding("one", 20), TOPIC, 150, TOKENIZER) == ""
    assert passage_of(page("one", BOILER), TOPIC, 10, TOKENIZER) == ""
    assert passage_of("", TOPIC, 100, TOKENIZER) == passage_of(page("one", BOILER), "", 100, TOKENIZER) == ""


@given(st.text(max_size=2_000), st.text(max_size=60), st.integers(0, 120))
def test_a_passage_is_a_stretch_of_the_text_and_fits(text: str, topic: str, room: int) -> None:
    passage = passage_of(text, topic, room, TOKENIZER)
    assert TOKENIZER.count(passage) <= room
    assert passage.removeprefix(BEFORE_MARK).removesuffix(AFTER_MARK) in text


def test_the_weakest_are_compacted_first_and_nothing_is_left_out_that_has_room_so() -> None:
    both = run(profile(), *PAGES, budget=2 * WHOLE + 20, topic=TOPIC)
    assert codes(both) == {"a": "fits", "b": "fits"}
    one = run(profile(), *PAGES, budget=2 * WHOLE - 20, topic=TOPIC)
    assert codes(one) == {"a": "fits", "b": "compacted"}
    none = run(profile(), *PAGES, budget=2 * PASSAGE_TOKENS + 20, topic=TOPIC)
    assert codes(none) == {"a": "compacted", "b": "compacted"}
    assert none.content.count(BOILER) == 2
    [step] = decision_on(none, "a").detail["steps"]
    assert (step["step"], step["before"]) == ("compact", WHOLE)
    assert step["after"] < PASSAGE_TOKENS + 40


def test_the_best_passage_grows_into_what_is_left() -> None:
    made = run(profile(), *PAGES, budget=WHOLE + 120, topic=TOPIC)
    assert codes(made) == {"a": "compacted", "b": "compacted"}
    best, other = (decision_on(made, ref).detail["steps"][0]["after"] for ref in "ab")
    assert other <= PASSAGE_TOKENS + 1 < 2 * PASSAGE_TOKENS < best
    assert made.tokens > WHOLE + 120 - 60


def test_what_has_room_whole_after_others_were_left_out_is_told_whole() -> None:
    """All are compacted, and then the weaker two are dropped: what that leaves holds the best one whole."""
    long = [
        memory(ref, near, page(ref, BOILER, sentences=5))
        for ref, near in zip("abcd", (0.9, 0.8, 0.7, 0.6), strict=True)
    ]
    budget = 3 * PASSAGE_TOKENS + 160
    made = run(profile(), *long, budget=budget, topic=TOPIC)
    assert codes(made)["a"] == "fits"
    assert codes(made)["b"] == "compacted"


def test_what_still_has_no_room_is_left_out_as_before() -> None:
    many = [memory(f"{place:02}", 0.9 - place / 100, page(f"w{place}", BOILER)) for place in range(8)]
    made = run(profile(), *many, budget=2 * PASSAGE_TOKENS + 20, topic=TOPIC)
    assert [code for code in codes(made).values() if code != "over_total_budget"] == ["compacted"] * 2
    assert codes(made)["00"] == codes(made)["01"] == "compacted"


def test_lines_stay_whole_where_nothing_says_what_to_look_for() -> None:
    room = 2 * WHOLE - 20
    for made in (
        run(profile(), *PAGES, budget=room, topic=" "),
        run(profile(steps=()), *PAGES, budget=room, topic=TOPIC),
        run(profile(steps=("drop", "summarise")), *PAGES, budget=room, topic=TOPIC),
        run(profile(), *PAGES, budget=room, topic=TOPIC, engine_version=4),
    ):
        assert Code.COMPACTED not in codes(made).values()


def test_what_is_pinned_stays_whole() -> None:
    pinned = memory("p", 0.1, page("pin", BOILER), pinned=True)
    made = run(profile(), pinned, *PAGES, budget=WHOLE + 2 * PASSAGE_TOKENS + 20, topic=TOPIC)
    assert codes(made) == {"p": "pinned", "a": "compacted", "b": "compacted"}


def test_what_was_left_out_comes_back_as_a_passage() -> None:
    """A tenth of the room stays free; the weaker of two has no room in it whole."""
    unlike = memory("b", 0.8, page("two", BOILER, sentences=20))
    room = WHOLE + PASSAGE_TOKENS + 20
    made = run(profile(steps=("compact",), fill=True), PAGES[0], unlike, budget=room, topic=TOPIC)
    assert codes(made) == {"a": "fits", "b": "compacted"}


def test_structure_in_a_passage_is_escaped_once() -> None:
    posed = page("one", f"{BOILER} \\# \\`x\\` <b> &amp; [t](u)")
    made = run(profile(), memory("a", 0.9, posed), budget=PASSAGE_TOKENS + 40, topic=TOPIC)
    assert codes(made) == {"a": "compacted"}
    assert f"{BOILER} \\# \\`x\\` <b> &amp; [t](u)" in made.content


def test_a_record_gives_the_same_passage_again() -> None:
    def made() -> EngineResult:
        return run(profile(), *PAGES, budget=2 * PASSAGE_TOKENS + 20, topic=TOPIC)

    assert made().sha256 == made().sha256
