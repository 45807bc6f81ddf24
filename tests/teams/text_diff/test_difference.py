"""How two texts differ: nothing of either is lost, numbers are right, and large texts are no trouble."""

import pytest
from hypothesis import given

from teams.text_diff import comparison
from teams.text_diff import difference as texts
from teams.text_diff.alignment import MAX_LINES
from teams.text_diff.comparison import compare_texts, diff_summary
from teams.text_diff.difference import DiffRun, diff_runs, diff_texts, tokenise
from tests.costly_inputs import comparisons
from tests.teams.text_diff.texts import any_texts, calm, prose

SIZE = 200_000
WORDS = prose(SIZE, 1)


@calm
@given(any_texts, any_texts)
def test_both_texts_can_be_rebuilt(old: str, new: str) -> None:
    runs = [run for part in diff_texts(old, new).parts for run in part.runs]
    assert "".join(run.text for run in runs if run.kind != "added") == old
    assert "".join(run.text for run in runs if run.kind != "removed") == new
    assert bool(diff_texts(old, new).changes) == (old != new)


@calm
@given(any_texts, any_texts)
def test_parts_know_their_lines(old: str, new: str) -> None:
    for part in diff_texts(old, new).parts:
        before, after = (
            "".join(run.text for run in part.runs if run.kind != kind).split("\n")[0] for kind in ("added", "removed")
        )
        if before:
            assert old.split("\n")[part.old_line - 1] == before
        if after:
            assert new.split("\n")[part.new_line - 1] == after


def test_a_change_names_its_place_and_its_words() -> None:
    found = diff_texts("one\ntwo\nthree\n", "one\ntwo and a half\nthree\n")
    (change,) = found.changes
    assert (change.old_line, change.new_line) == (2, 2)
    assert change.runs == (DiffRun("equal", "two"), DiffRun("added", " and a half"), DiffRun("equal", "\n"))
    assert (found.words_added, found.words_removed) == (3, 0)


@pytest.mark.parametrize(
    ("old", "new", "summary"),
    [
        ("a\n", "a\n", "No differences"),
        ("a b\n", "a  b\n", "Only white space changed."),
        ("a\r\nb\r\n", "a\nb\n", "Only white space changed."),
        ("a b\n", "a c d\n", "1 change: 2 words added, 1 word removed."),
        ("a\nb\nc\n", "x\nb\ny\n", "2 changes: 2 words added, 2 words removed."),
        ("word\n", "**word**\n", "1 change, but no words: only punctuation or formatting."),
    ],
)
def test_the_summary(old: str, new: str, summary: str) -> None:
    assert diff_summary(diff_texts(old, new)) == summary


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WORDS, WORDS.replace("\n", " x\n")),
        (WORDS, prose(SIZE, 2)),
        (WORDS.replace("\n", " "), prose(SIZE, 2).replace("\n", " ")),
        (WORDS, "\n".join(WORDS.split("\n")[::-1])),
        ("x" * SIZE, "x" * (SIZE - 1) + "y"),
        ("same line\n" * 20_000, "other line\n" + "same line\n" * 19_990),
        ("a b " * (SIZE // 4), "b a " * (SIZE // 4)),
        ("!?" * (SIZE // 2), "?!" * (SIZE // 2)),
        ("\n" * SIZE, "\n" * (SIZE // 2)),
        ("漢字" * (SIZE // 2), "字漢漢" * (SIZE // 3)),
    ],
    ids=["every line", "rewritten", "one line", "reversed", "one word", "equal lines", "turns", "signs", "empty", "漢"],
)
def test_large_texts_are_compared_whole(old: str, new: str) -> None:
    runs = [run for part in diff_texts(old, new).parts for run in part.runs]
    assert "".join(run.text for run in runs if run.kind != "added") == old
    assert "".join(run.text for run in runs if run.kind != "removed") == new


def test_very_long_texts_are_shown_as_they_are_written() -> None:
    shown = compare_texts(prose(400_000, 1), prose(400_000, 2))
    assert not shown.is_readable
    assert shown.places
    assert shown.places[0].cut


@pytest.mark.finding("5.1b")
@pytest.mark.parametrize("name", comparisons())
def test_the_worst_texts_are_compared_within_bounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long both are, only so many characters are compared word by word, and nothing of either is lost."""
    by_words = [0]

    def counting(removed: str, added: str) -> tuple[DiffRun, ...]:
        by_words[0] += len(removed) + len(added) if removed and added else 0
        return diff_runs(removed, added)

    monkeypatch.setattr(texts, "diff_runs", counting)
    old, new = comparisons()[name]()
    found = diff_texts(old, new)
    runs = [run for part in found.parts for run in part.runs]
    assert "".join(run.text for run in runs if run.kind != "added") == old
    assert "".join(run.text for run in runs if run.kind != "removed") == new
    assert by_words[0] <= texts.MAX_WORD_CHARACTERS
    shown = compare_texts(old, new, source=True)
    assert shown.is_coarse == found.is_coarse
    assert sum(len(place.rows) for place in shown.places) <= 260_000


@pytest.mark.finding("5.1b")
def test_of_very_many_lines_only_the_ends_are_compared() -> None:
    lines = [f"{number % 7}\n" for number in range(MAX_LINES)]
    old, new = "".join(["first\n", *lines, "last\n"]), "".join(["first\n", *lines[::-1], "0\n", "last\n"])
    found = diff_texts(old, new)
    assert [part.changed for part in found.parts] == [False, True, False]
    assert found.is_coarse


@pytest.mark.finding("5.1b")
def test_what_is_too_intricate_to_be_read_is_shown_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MAX_SECONDS", 0)
    shown = compare_texts("one [a](b)\n" * 3, "two [a](b)\n" * 3)
    assert (shown.is_readable, shown.html) == (False, "")
    assert shown.places


def test_words_are_counted_as_they_are_compared() -> None:
    text = "it\u2019s one_two, 漢字! _ 3.14 caf\u00e9 \u2014 a'b'c"
    assert DiffRun("added", text).words == sum(token[0].isalnum() or token[0] == "_" for token in tokenise(text)) > 0
