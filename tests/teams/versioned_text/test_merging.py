"""Three texts into one: what nobody may lose, whatever the texts are."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from teams.text_diff.alignment import MAX_LINES
from teams.versioned_text.merging import MergeChunk, TooLongToMerge, has_conflict_markers, join_chunks, merge_texts
from tests.costly_inputs import merges

calm = settings(deadline=None)
texts = st.lists(st.sampled_from(["a", "b", "c", "", "a b"]), max_size=8).map("\n".join)


def format_merged(chunks: Sequence[MergeChunk]) -> str:
    """Return the merged text, with both texts of each conflict between marks."""
    marked = [
        ("(yours)", *chunk.lines, "(theirs)", *(chunk.theirs or ()), "(end)") for chunk in chunks if chunk.has_conflict
    ]
    return join_chunks(chunks, marked)


@st.composite
def edits(draw: st.DrawFn, base: str) -> str:
    """The base with lines taken out, changed and put in."""
    lines: list[str] = []
    for number, line in enumerate(base.split("\n")):
        kind = draw(st.sampled_from(["keep", "keep", "keep", "drop", "change", "put"]))
        lines += {"keep": [line], "drop": [], "change": [f"changed {number}"], "put": [f"new {number}", line]}[kind]
    return "\n".join(lines)


three_texts = texts.flatmap(lambda base: st.tuples(st.just(base), edits(base), edits(base)))


@pytest.mark.parametrize(
    ("base", "mine", "theirs", "text"),
    [
        ("a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"),
        ("a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd"),
        ("a", "x", "y", "(yours)\nx\n(theirs)\ny\n(end)"),
        ("", "", "y", "y"),
        ("a\nb", "a\nsame\nx\nb", "a\nsame\ny\nb", "a\nsame\n(yours)\nx\n(theirs)\ny\n(end)\nb"),
        ("a\nb", "a\nB", "a", "a\n(yours)\nB\n(theirs)\n(end)"),
    ],
)
def test_what_becomes_of_two_changes(base: str, mine: str, theirs: str, text: str) -> None:
    assert format_merged(merge_texts(base, mine, theirs)) == text


@calm
@given(three_texts)
def test_who_changed_nothing_gets_the_others_text(drawn: tuple[str, str, str]) -> None:
    base, mine, _ = drawn
    assert format_merged(merge_texts(base, mine, base)) == mine
    assert format_merged(merge_texts(base, base, mine)) == mine
    assert format_merged(merge_texts(base, mine, mine)) == mine


@calm
@given(three_texts)
def test_no_line_is_lost_that_somebody_wrote(drawn: tuple[str, str, str]) -> None:
    base, mine, theirs = drawn
    merged_lines = format_merged(merge_texts(base, mine, theirs)).split("\n")
    written = {*mine.split("\n"), *theirs.split("\n")} - set(base.split("\n"))
    assert written <= set(merged_lines)


@calm
@given(three_texts)
@example(("a\na\na", "a\na", "changed 0\na\na"))
def test_a_line_that_both_left_alone_is_there(drawn: tuple[str, str, str]) -> None:
    base, mine, theirs = drawn
    lines = format_merged(merge_texts(base, mine, theirs)).split("\n")
    for line in set(base.split("\n")):
        before, *after = (text.split("\n").count(line) for text in (base, mine, theirs))
        gone = sum(before - still for still in after)  # of lines that are alike, each may have taken out another
        assert lines.count(line) >= before - gone


@calm
@given(three_texts)
def test_it_does_not_matter_who_asks(drawn: tuple[str, str, str]) -> None:
    base, mine, theirs = drawn
    pieces = merge_texts(base, mine, theirs)
    swapped = merge_texts(base, theirs, mine)
    assert [piece.has_conflict for piece in pieces] == [piece.has_conflict for piece in swapped]
    assert [(piece.theirs, piece.lines) for piece in swapped if piece.has_conflict] == [
        (piece.lines, piece.theirs) for piece in pieces if piece.has_conflict
    ]


@calm
@given(texts, texts, texts)
def test_any_three_texts_can_be_brought_together(base: str, mine: str, theirs: str) -> None:
    pieces = merge_texts(base, mine, theirs)
    assert all(isinstance(piece, MergeChunk) for piece in pieces)
    lines = format_merged(pieces).split("\n")
    assert {*mine.split("\n"), *theirs.split("\n")} - set(base.split("\n")) <= set(lines)


@pytest.mark.finding("5.1b")
@pytest.mark.parametrize(("base", "mine", "theirs"), [pytest.param(*three, id=name) for name, three in merges(100_000)])
def test_the_worst_texts_lose_nothing(base: str, mine: str, theirs: str) -> None:
    try:
        lines = format_merged(merge_texts(base, mine, theirs)).split("\n")
    except TooLongToMerge:
        assert base.count("\n") + max(mine.count("\n"), theirs.count("\n")) > MAX_LINES - 2
        return
    assert {*mine.split("\n"), *theirs.split("\n")} - set(base.split("\n")) <= set(lines)


@pytest.mark.finding("5.1b")
def test_very_many_lines_are_not_brought_together() -> None:
    base = "a\nb\n" * (MAX_LINES // 4)
    with pytest.raises(TooLongToMerge):
        merge_texts(base, base + "mine\n", base + "theirs\n")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main", True),
        ("x\r\n<<<<<<< HEAD\r\na\r\n=======\r\nb\r\n>>>>>>> main\r\n", True),
        ("Git writes <<<<<<< and >>>>>>> around conflicts.", False),
        ("Title\n=======\ntext", False),
        (">>>>>>> main\n=======\n<<<<<<< HEAD", False),
    ],
)
def test_the_marker_lines_of_conflicts_are_recognised(text: str, marked: bool) -> None:
    assert has_conflict_markers(text) is marked
