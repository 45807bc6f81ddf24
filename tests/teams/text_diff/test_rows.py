"""The difference as it is written: lines with their numbers."""

import pytest
from hypothesis import given

from teams.text_diff.comparison import compare_texts
from teams.text_diff.difference import diff_texts
from teams.text_diff.rows import MAX_CHANGES, MAX_RUN_CHARACTERS, MAX_RUNS, diff_hunks
from tests.teams.text_diff.texts import any_texts, calm


def drawn(old: str, new: str) -> list[str]:
    """Each line that is shown, like `- 2   two`."""
    signs = {"same": " ", "removed": "-", "added": "+"}
    return [
        f"{signs[row.kind]} {row.old or '':<2}{row.new or '':<2}" + "".join(run.text for run in row.runs).rstrip("\n")
        for place in diff_hunks(diff_texts(old, new))
        for row in place.rows
    ]


def test_lines_that_changed_stand_with_their_numbers_among_some_that_did_not() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 10))
    new = old.replace("line 5\n", "line five\nand more\n")
    assert drawn(old, new) == [
        "  2 2 line 2",
        "  3 3 line 3",
        "  4 4 line 4",
        "- 5   line 5",
        "+   5 line five",
        "+   6 and more",
        "  6 7 line 6",
        "  7 8 line 7",
        "  8 9 line 8",
    ]


def test_lines_between_changes_are_counted_where_they_are_not_shown() -> None:
    old = "first\n" + "same\n" * 20 + "last\n"
    places = diff_hunks(diff_texts(old, old.replace("first", "1st").replace("last", "end")))
    assert [(place.number, place.skipped, len(place.rows)) for place in places] == [
        (1, 0, 2), (0, 0, 3), (0, 14, 3), (2, 0, 2),
    ]  # fmt: skip


@calm
@given(any_texts, any_texts)
def test_lines_that_changed_are_all_there(old: str, new: str) -> None:
    rows = [row for place in diff_hunks(diff_texts(old, new)) for row in place.rows]
    before = old.split("\n")
    after = new.split("\n")
    for row in rows:
        text = "".join(run.text for run in row.runs).removesuffix("\n")
        assert row.old is None or before[row.old - 1] == text or row.kind == "added"
        assert row.new is None or after[row.new - 1] == text or row.kind == "removed"
    numbers = [row.new for row in rows if row.new is not None]
    assert numbers == sorted(set(numbers))


def test_a_very_long_line_is_shown_around_what_changed() -> None:
    old = "word " * 10_000 + "old" + " word" * 10_000
    lines = drawn(old, old.replace("old", "new"))
    assert all(len(line) < 3 * MAX_RUN_CHARACTERS for line in lines)
    assert [" … " in line for line in lines] == [True, True]


@pytest.mark.finding("3a")
def test_many_long_changes_are_shown_up_to_a_number_of_runs() -> None:
    blocks = [[f"{number} {line} {{}}\n" for line in range(120)] for number in range(400)]
    texts = ["same\n".join("".join(lines) for lines in blocks).replace("{}", side) for side in ("old", "new")]
    shown = compare_texts(*texts, source=True)
    assert MAX_RUNS <= sum(len(row.runs) for place in shown.places for row in place.rows) < 1.3 * MAX_RUNS
    assert 0 < shown.changes < MAX_CHANGES
    assert shown.changes + shown.hidden_change_count == len(blocks)
