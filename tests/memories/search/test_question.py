"""What is read of a question before anything is searched."""

import datetime

import pytest

from memories.search.question import MAX_NAMES, names_in, parse_question

TODAY = datetime.date(2023, 10, 25)


@pytest.mark.parametrize(
    ("text", "asks_when"),
    [
        ("When did Ada leave?", True),
        ("  “When”, she asked", True),
        ("how long has she been there", True),
        ("In which year did it open?", True),
        ("What time is it?", True),
        ("What did she do when it rained?", False),
        ("Whenever it rains", False),
        ("Quand était-ce ?", False),
        ("", False),
    ],
)
def test_whether_it_asks_for_a_time(text: str, asks_when: bool) -> None:
    assert parse_question(text, None, TODAY).asks_when is asks_when


def test_names_are_runs_of_words_without_what_is_around_them() -> None:
    names = names_in("Did Ada Lovelace's cat see «Jean-Luc» at St. James?")
    assert {"ada", "ada lovelace", "jean-luc", "lovelace", "st", "cat see jean-luc at"} <= set(names)


def test_a_long_text_has_no_more_names_than_anyone_needs() -> None:
    assert len(names_in("word " * 9 + " ".join(map(str, range(10_000))))) == MAX_NAMES


@pytest.mark.parametrize("text", ["你好 世界", "🏳️‍🌈", "\x00", "'s", "ǅ" * 50])
def test_any_text_can_be_read(text: str) -> None:
    parse_question(text, None, TODAY)
