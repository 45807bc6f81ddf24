"""What a query tells: keywords, intent, the names that it may mention."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.query_signals import (
    MAX_NAMES,
    STOP_WORDS,
    QuerySignals,
    detect_intent,
    parse_signals,
    possible_names,
)


@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("", []),
        (" \n\t", []),
        ("Why is it so?", []),
        ("How do I fix the login timeout?", ["fix", "login", "timeout"]),
        ("Login, LOGIN and login!", ["login"]),
        ("AuthService fails", ["authservice", "auth", "service", "fails"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("user_id", ["user_id", "user"]),
        ("Read config.yaml.", ["read", "config.yaml", "config", "yaml"]),
        ("src/auth/login.py", ["src/auth/login.py", "src", "auth", "login"]),
        ("parse(config.yaml)", ["parse", "config.yaml", "config", "yaml"]),
        ("a well-known x", ["well-known", "well", "known"]),
        ("don't use C++ or c#", ["use", "c++", "c#"]),
        ("Caroline's painting", ["caroline", "painting"]),
        ("Größe der Äpfel 2026", ["größe", "der", "äpfel", "2026"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("修复登录，谢谢", ["修复登录", "谢谢"]),  # noqa: RUF001 - the comma of Chinese
        ("🙂 ?! --", []),
    ],
)
def test_keywords(query: str, keywords: list[str]) -> None:
    assert list(parse_signals(query).keywords) == keywords


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("", "other"),
        ("  \n", "other"),
        ("Fix it", "fix"),
        ("What is this ERROR?", "fix"),
        ("Explain the debugger", "fix"),  # "bug" stands in it: the seed's rules ask for substrings
        ("Add a prefix", "fix"),
        ("Explain the cache?", "explain"),
        ("How does it work?", "explain"),
        ("What is a lease?", "explain"),
        ("Who wrote it?", "question"),
        ("Write the release notes", "action"),
        ("🙂", "action"),
    ],
)
def test_intent_is_that_of_the_first_rule_that_holds(query: str, intent: str) -> None:
    assert detect_intent(query) == intent


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("fix it", ("error", "shell_exec", "tool_result", "file_write")),
        ("explain it", ("file_read", "message")),
        ("who?", ("message", "file_read", "tool_result")),
        ("write it", ("file_write", "shell_exec", "tool_result")),
        ("", ()),
    ],
)
def test_the_intent_says_which_events_help(query: str, types: tuple[str, ...]) -> None:
    assert parse_signals(query).event_types == types


def test_an_empty_query_has_the_signals_of_none() -> None:
    assert parse_signals(" ") == QuerySignals()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What did  Ada\nLovelace write?", "ada lovelace"),
        ("Ask Ada, then Ben.", "ada"),
        ("Ask Ada, then Ben.", "ben"),
        ("What is Caroline's job?", "caroline"),
        ("What is Caroline’s job?", "caroline"),  # noqa: RUF001 - as word processors write it
        ("Where is (New York)?", "new york"),
        ("Is C++ faster?", "c++"),
        ("Call Acme (UK) now", "acme (uk)"),
        ("Does Yahoo! answer?", "yahoo!"),
        ("the Museum of Modern Art in June", "museum of modern art"),
        ("open src/auth.py", "src/auth.py"),
    ],
)
def test_a_name_is_found_as_it_is_kept(query: str, name: str) -> None:
    assert name in possible_names(query)


def test_names_have_five_words_at_most_and_come_shorter_first() -> None:
    names = possible_names("a b c d e f")
    assert names[:6] == list("abcdef")
    assert names[-1] == "b c d e f"
    assert len(names) == 6 + 5 + 4 + 3 + 2


def test_a_long_query_gives_a_limited_number_of_names() -> None:
    assert len(possible_names(" ".join(f"word{number}" for number in range(5_000)))) == MAX_NAMES
    assert possible_names(" ") == []


@given(st.text())
def test_any_text_whatever_has_signals(query: str) -> None:
    signals = parse_signals(query)
    assert len(set(signals.keywords)) == len(signals.keywords)
    assert not STOP_WORDS & set(signals.keywords)
    assert all(len(keyword) >= 2 and keyword == keyword.lower() for keyword in signals.keywords)
    assert all(name and " ".join(name.split()) == name for name in possible_names(query))
