"""Which words went and came, in a form that people can read."""

import pytest

from teams.text_diff.difference import diff_runs, tokenise


def drawn(old: str, new: str) -> str:
    """The runs as one line: removed words in brackets, added ones in braces."""
    marks = {"equal": "%s", "removed": "[%s]", "added": "{%s}"}
    return "".join(marks[run.kind] % run.text for run in diff_runs(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Ship it by March.", "Ship it by April.", "Ship it by [March]{April}."),
        ("a red fox", "a fox", "a [red ]fox"),
        ("a fox", "a red fox", "a {red }fox"),
        ("Ship it", "Ship it, now", "Ship it{, now}"),
        ("don't stop", "don't go", "don't [stop]{go}"),
        ("", "all new", "{all new}"),
        ("all gone", "", "[all gone]"),
        ("one word", "one  word", "one[ ]{  }word"),
        ("我喜欢茶", "我喜欢咖啡", "我喜欢[茶]{咖啡}"),
        ("line\r\n", "line\n", "line[\r]\n"),
    ],
)
def test_runs(old: str, new: str, expected: str) -> None:
    assert drawn(old, new) == expected


def test_words_between_large_changes_are_no_islands() -> None:
    assert drawn("Every claim is shown live", "Three acts is told slowly") == (
        "[Every claim is shown live]{Three acts is told slowly}"
    )


def test_what_stays_between_two_additions_is_not_shown_as_removed() -> None:
    assert drawn("b", "a b c") == "{a }b{ c}"


def test_an_emoji_with_its_skin_is_one_word() -> None:
    assert tokenise("ok 👍🏽!") == ["ok", " ", "👍🏽", "!"]
