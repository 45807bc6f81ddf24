"""Reading answers: each result stands or falls by itself."""

import datetime
import json
from typing import Any

import pytest

from assembly.sources.external.response import MAX_TEXT_CHARACTERS, ExternalResult, parse_answer

FINE: dict[str, Any] = {"id": "1", "text": "x"}


def read(*entries: Any, limit: int = 10) -> tuple[list[ExternalResult], int]:
    return parse_answer(json.dumps({"results": list(entries)}).encode(), limit)


NO_SCORES: list[Any] = [-0.1, 1.1, 10**400, "0.5", True, [], 1e999]
UNUSABLE: list[Any] = [
    None, 5, "text", [], {},
    {"text": "x"}, {"id": "1"}, {"id": 1, "text": "x"}, {"id": "", "text": "x"}, {"id": "i" * 101, "text": "x"},
    {"id": "a\nb", "text": "x"}, {"id": "a\x00", "text": "x"}, {"id": "\ud800", "text": "x"},
    {"id": "1", "text": None}, {"id": "1", "text": 5}, {"id": "1", "text": "a\x00b"}, {"id": "1", "text": "a\ud800"},
    {"id": "1", "text": "x" * (MAX_TEXT_CHARACTERS + 1)},
    *({**FINE, "score": score} for score in NO_SCORES),
    *({**FINE, "occurred_at": moment} for moment in (
        "yesterday", "", 5, "2025-03-14T11:00:00", "2025-03-14", "2025-02-30T00:00:00Z", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00", "1492-10-12T00:00:00Z",
    )),
    *({**FINE, "kind": kind} for kind in (5, "k" * 61, "a\nb")),
    *({**FINE, "path": path} for path in (5, "p" * 501, "a\x00b")),
    {**FINE, "sensitivity": 3}, {**FINE, "sensitivity": True}, {**FINE, "sensitivity": [2]},
    *({**FINE, "sensitivity": word} for word in ("secret", "", "Restricted", "withheld")),
    *({**FINE, "tags": tags} for tags in ("rail", [5], [""], ["t" * 101], ["t"] * 21, {"a": 1})),
]  # fmt: skip


@pytest.mark.parametrize("entry", UNUSABLE, ids=range(len(UNUSABLE)))
def test_an_unusable_result_is_left_out_and_counted(entry: Any) -> None:
    body = json.dumps({"results": [entry, {"id": "ok", "text": "fine"}]}).replace("Infinity", "1e999").encode()
    results, left_out = parse_answer(body, 10)
    assert ([result.id for result in results], left_out) == (["ok"], 1)


def test_what_is_optional_may_be_missing_null_or_empty() -> None:
    assert read(FINE) == ([ExternalResult("1", "x")], 0)
    nothing: dict[str, Any] = dict.fromkeys(("kind", "score", "occurred_at", "tags", "path"))
    assert read({**FINE, **nothing}) == ([ExternalResult("1", "x")], 0)
    assert read({**FINE, "kind": "", "path": "", "tags": []}) == ([ExternalResult("1", "x")], 0)


def test_everything_that_there_is_is_read() -> None:
    moment = datetime.datetime(2025, 3, 14, 9, tzinfo=datetime.UTC)
    given = {"kind": "ticket", "score": 1, "occurred_at": "2025-03-14T11:00:00+02:00", "tags": ["a b"], "path": "a/b"}
    (result,), _ = read({**FINE, **given, "shelf": "members that are not known are passed over"})
    assert result == ExternalResult("1", "x", "ticket", 1.0, moment, ("a b",), "a/b")


def test_a_result_raises_the_level_of_its_source_and_never_lowers_it() -> None:
    results, _ = read({**FINE, "sensitivity": "confidential"}, {"id": "2", "text": "x"})
    assert [[result.level(source) for source in (0, 1, 2, 3)] for result in results] == [[2, 2, 2, 3], [0, 1, 2, 3]]


def test_an_unknown_level_is_told_to_the_log_and_nothing_else_of_the_result(caplog: pytest.LogCaptureFixture) -> None:
    assert read({**FINE, "text": "Do not tell", "sensitivity": "secret"}) == ([], 1)
    assert "unknown sensitivity" in caplog.text
    assert "Do not tell" not in caplog.text


def test_texts_may_have_lines_and_be_as_long_as_a_hundred_thousand_characters() -> None:
    text = "é\n\t" * (MAX_TEXT_CHARACTERS // 3)
    assert read({"id": "1", "text": text})[0][0].text == text


def test_an_id_counts_once_the_first_time() -> None:
    results, left_out = read({"id": "1", "text": "first"}, {"id": "1", "text": "second"}, {"id": "2", "text": "third"})
    assert ([result.text for result in results], left_out) == (["first", "third"], 1)


def test_what_is_beyond_the_limit_is_left_out_and_counted() -> None:
    results, left_out = read(*({"id": str(number), "text": "x"} for number in range(7)), limit=5)
    assert ([result.id for result in results], left_out) == (["0", "1", "2", "3", "4"], 2)
    assert read(limit=5) == ([], 0)


def test_invisible_characters_are_removed_from_texts() -> None:
    hidden = "\u200b\u202e\U000e0041"
    assert read({"id": "1", "text": f"Ticket{hidden} 7"})[0][0].text == "Ticket 7"
