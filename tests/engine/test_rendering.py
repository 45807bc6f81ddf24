"""The exact text of headings, items and separators."""

import datetime as dt

import pytest

from assembly.engine.escaping import EditedText
from assembly.engine.rendering import RenderedItem
from tests.engine.factories import NOW, candidate, codes, decision_on, profile_of, run, section

TEXT = profile_of(section())
LINES = profile_of(section(shape="lines"))
ENTRIES = profile_of(section(shape="entries"))


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("plain", "plain"),
        ("ends in white space \n\t\u00a0\n", "ends in white space"),
        ("  begins with white space", "  begins with white space"),
        ("\n\nbegins with lines", "\n\nbegins with lines"),
        ("keeps\r\ninner\n\n\nbreaks", "keeps\r\ninner\n\n\nbreaks"),
        ("## Identity\nspoofed", "\\## Identity\nspoofed"),
    ],
)
def test_a_text_is_shown_as_stored_without_its_trailing_white_space(stored: str, shown: str) -> None:
    assert run(TEXT, candidate("a", stored)).content == f"## Log\n{shown}"


@pytest.mark.parametrize(
    ("kind", "stored", "shown"),
    [
        ("fact", "one line", "- [fact] one line"),
        ("", "no kind", "- no kind"),
        ("fact", "two\nlines", "- [fact] two lines"),
        ("fact", "windows\r\nlines", "- [fact] windows lines"),
        ("fact", "blank\n\nline", "- [fact] blank  line"),
        ("fact", "v\vf\ffs\x1cgs\x1drs\x1enel\x85ls\u2028ps\u2029end", "- [fact] v f fs gs rs nel ls ps end"),
        ("fact", "trailing\n \n", "- [fact] trailing"),
        ("two\nlines", "kind", "- [two lines] kind"),
    ],
)
def test_a_memory_is_always_one_line(kind: str, stored: str, shown: str) -> None:
    content = run(LINES, candidate("a", stored, kind=kind)).content
    assert content == f"## Log\n{shown}"
    assert len(content.splitlines()) == 2


def test_days_stand_under_their_dates_a_blank_line_apart() -> None:
    days = [candidate(f"day{day}", f"text {day}\n", date=dt.date(2025, 3, day)) for day in (1, 3, 2)]
    assert run(ENTRIES, *days).content == (
        "## Log\n### 2025-03-03\ntext 3\n\n### 2025-03-02\ntext 2\n\n### 2025-03-01\ntext 1"
    )


def test_memories_stand_on_lines_of_their_own_without_blank_lines() -> None:
    items = [candidate(ref, ref, kind="fact", occurred_at=NOW) for ref in "ab"]
    assert run(LINES, *items).content == "## Log\n- [fact] a\n- [fact] b"


@pytest.mark.parametrize("stored", ["", " ", "\n\n", "\t\r\n", "\u00a0\u2028\x1c"])
def test_white_space_alone_is_empty_and_leaves_no_heading(stored: str) -> None:
    assembled = run(TEXT, candidate("a", stored))
    assert (assembled.content, codes(assembled), assembled.tokens) == ("", {"a": "empty"}, 0)
    assert assembled.sections[0].status == "empty"


def test_the_offsets_of_an_item_leave_out_its_heading() -> None:
    profile = profile_of(section("s", "Log"), section("t", "Facts", "lines"))
    assembled = run(profile, candidate("a", "first"), candidate("b", "second", section="t", kind="fact"))
    assert assembled.content == "## Log\nfirst\n\n## Facts\n- [fact] second"
    for ref, shown in (("a", "first"), ("b", "- [fact] second")):
        decision = decision_on(assembled, ref)
        assert assembled.content[decision.start : decision.end] == shown
    assert [assembled.content[result.start : result.end] for result in assembled.sections] == [
        "## Log\nfirst",
        "## Facts\n- [fact] second",
    ]


@pytest.mark.parametrize(
    ("body", "kept", "expected"),
    [
        ("one", 2, (0, 1)),
        ("one\n\ntwo\n\nthree", 3, (1, 3)),
        ("one\n\ntwo\n\nthree", 7, (1, 3)),
        ("one\n\ntwo\n\nthree", 8, (2, 3)),
        ("one\r\n\r\ntwo", 4, (1, 2)),
        ("one\n \t\n\n\ntwo", 5, (1, 2)),
        ("\n\none\n\ntwo", 5, (1, 2)),
        ("one\ntwo\nthree", 5, (0, 1)),
    ],
)
def test_paragraphs_count_as_kept_when_they_are_whole(body: str, kept: int, expected: tuple[int, int]) -> None:
    assert RenderedItem("", EditedText(body)).count_paragraphs(kept) == expected
