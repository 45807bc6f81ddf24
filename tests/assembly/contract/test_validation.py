"""What can be wrong with a request gets the name of its field and a sentence that says what to do, in bounded time."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from rest_framework.exceptions import ValidationError

from assembly.contract.validation import MAX_VALUES, require_memory_request
from config.http.problems import as_dossier_error
from config.http.serializers import MAX_NAMED
from tests.assembly.contract.contract_checks import REQUESTS
from tests.assembly.contract.request_strategies import requests

GOOD: dict[str, Any] = {"request_id": "one", "intent": ""}
POLICY: dict[str, dict[str, Any]] = {
    "pin": {"patterns": ["*.js", "*.ts", "*.py"], "max_size_mb": 100, "ttl_hours": 24},
    "compress": {"age_threshold_hours": 6, "access_threshold": 3, "compression_ratio": 0.7},
    "evict": {"max_total_size_gb": 2, "lru_weight": 0.6, "quality_weight": 0.4},
}
"""The seed's default for code_snippets."""


def faults(body: Any) -> dict[str, tuple[str, str]]:
    """The code and the sentence of each field that is refused."""
    with pytest.raises(ValidationError) as raised:
        require_memory_request(body)
    error = as_dossier_error(raised.value)
    assert error is not None
    assert (error.status, error.code) == (422, "invalid")
    return {field: (one["code"], one["message"]) for field, (one, *_) in error.extra["errors"].items()}


@given(requests())
def test_a_request_that_the_schema_allows_is_taken_as_it_is(body: dict[str, Any]) -> None:
    REQUESTS.validate(body)
    assert require_memory_request(body) == body


PIN, EVICT = POLICY["pin"], POLICY["evict"]
TEXT = "Use a text."
TOO_LONG = "Use at most 200 characters."
EMPTY = "This field may not be empty."
TOKENS = "Use a whole number from 0 to 200,000."
TIME = "Use a whole number from 10 to 60,000."
FRACTION = "Use a number from 0 to 1."
ASCII = "Use printable ASCII characters alone."
NUL = "A NUL character cannot be used. Remove it."
LONE = "A lone surrogate is no character. Remove it."
SCOPES = "Use one of: L1, L2, L3, L4, noosphere, library, workshop, experience."
KNOWN = "There is no such field. Known are: "

WRONG: list[tuple[str, Any, str, str, str]] = [
    ("request_id", "", "request_id", "blank", EMPTY),
    ("request_id", "x" * 201, "request_id", "max_length", TOO_LONG),
    ("request_id", "é", "request_id", "invalid", ASCII),
    ("request_id", "one\n", "request_id", "invalid", ASCII),
    ("request_id", 5, "request_id", "invalid", TEXT),
    ("intent", None, "intent", "invalid", TEXT),
    ("intent", "x" * 4_001, "intent", "max_length", "Use at most 4,000 characters."),
    ("intent", "a\0", "intent", "null_characters_not_allowed", NUL),
    ("intent", "a\ud800", "intent", "surrogate_characters_not_allowed", LONE),
    ("entities", ["x"] * 51, "entities", "max_length", "Name at most 50."),
    ("entities", ["x", "y" * 201], "entities.1", "max_length", TOO_LONG),
    ("entities", ["x", ""], "entities.1", "blank", EMPTY),
    ("entities", "x", "entities", "invalid", "Use a list."),
    ("entities", [["x"]], "entities.0", "invalid", TEXT),
    ("budgets", [], "budgets", "invalid", "Use an object."),
    ("budgets", {"cost_max": 1}, "budgets.cost_max", "unknown", f"{KNOWN}tokens_max, time_ms, quality_min."),
    ("budgets", {"tokens_max": -1}, "budgets.tokens_max", "min_value", TOKENS),
    ("budgets", {"tokens_max": 10**400}, "budgets.tokens_max", "max_value", TOKENS),
    ("budgets", {"tokens_max": 1.5}, "budgets.tokens_max", "invalid", TOKENS),
    ("budgets", {"tokens_max": True}, "budgets.tokens_max", "invalid", TOKENS),
    ("budgets", {"tokens_max": float("inf")}, "budgets.tokens_max", "invalid", TOKENS),
    ("budgets", {"time_ms": 9}, "budgets.time_ms", "min_value", TIME),
    ("budgets", {"time_ms": 60_001}, "budgets.time_ms", "max_value", TIME),
    ("budgets", {"quality_min": 1.1}, "budgets.quality_min", "max_value", FRACTION),
    ("lod_preference", "x", "lod_preference", "invalid_choice", "Use one of: macro, micro, atomic, adaptive."),
    ("source_scope", [], "source_scope", "min_length", "Name at least one, or leave the field out."),
    ("source_scope", ["L5"], "source_scope.0", "invalid_choice", SCOPES),
    ("source_scope", ["L1"] * 9, "source_scope", "max_length", "Name at most 8."),
    ("kv_policy", {}, "kv_policy.pin", "required", "This field is required."),
    ("kv_policy", {**POLICY, "keep": {}}, "kv_policy.keep", "unknown", f"{KNOWN}pin, compress, evict."),
    ("kv_policy", {**POLICY, "pin": {**PIN, "patterns": [5]}}, "kv_policy.pin.patterns.0", "invalid", TEXT),
    ("kv_policy", {**POLICY, "evict": {**EVICT, "lru_weight": 2}}, "kv_policy.evict.lru_weight", "max_value", FRACTION),
    ("team", 5, "team", "invalid", "Use a text, or null."),
    ("agent", "", "agent", "blank", EMPTY),
    ("domain", "law", "domain", "invalid_choice", "Use one of: general, code, documentation, research."),
    ("now", "2026-10-12T00:00:00", "now", "zone", "Add the offset from UTC, as in 2026-02-28T09:30:00Z."),
    ("now", "1492-10-12T00:00:00Z", "now", "year", "Use a year from 1900 to 2200."),
    ("privacy_mode", "hide", "privacy_mode", "invalid_choice", "Use one of: off, mask, strict."),
    ("sensitivity", "public", "sensitivity", "invalid_choice", "Use one of: internal, confidential, restricted."),
    ("format", "html", "format", "invalid_choice", "Use one of: fragments, markdown, messages."),
]


@pytest.mark.parametrize(("member", "value", "field", "code", "message"), WRONG)
def test_a_wrong_value_is_named_with_what_to_do(member: str, value: Any, field: str, code: str, message: str) -> None:
    assert faults({**GOOD, member: value})[field] == (code, message)


def test_missing_and_unknown_fields_are_named() -> None:
    assert faults({}) == dict.fromkeys(("request_id", "intent"), ("required", "This field is required."))
    assert faults({**GOOD, "clearance": "off"})["clearance"][0] == "unknown"
    assert faults({"message": 1, "code": "x"}).keys() == {"message", "code"}
    for body in ([], "x", 5, None, [GOOD]):
        assert faults(body) == {"body": ("invalid", "Send a JSON object.")}


def test_all_wrong_fields_are_named_at_once() -> None:
    assert faults({"intent": 5, "budgets": {"time_ms": 1, "tokens_max": -1}}).keys() == {
        "request_id", "intent", "budgets.time_ms", "budgets.tokens_max",
    }  # fmt: skip


def test_the_policy_of_the_seed_is_valid() -> None:
    assert require_memory_request({**GOOD, "kv_policy": POLICY})["kv_policy"] == POLICY


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


MILLION = 1_000_000
HOSTILE: dict[str, Callable[[], Any]] = {
    "a million unknown fields": lambda: {f"x{number}": 1 for number in range(MILLION)},
    "a million names": lambda: {**GOOD, "entities": ["x"] * MILLION},
    "a million members": lambda: {**GOOD, "budgets": {f"x{number}": 1 for number in range(MILLION)}},
    "a deep nest": lambda: {**GOOD, "entities": nested(900)},
    "a long text": lambda: {**GOOD, "intent": "x" * 50_000_000},
    "many wrong names": lambda: {**GOOD, "entities": [5] * (MAX_VALUES - 1)},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_body_costs_little(kind: str) -> None:
    body = HOSTILE[kind]()
    started = time.thread_time()
    found = faults(body)
    assert time.thread_time() - started < 0.5
    assert 1 <= len(found) <= MAX_NAMED
    assert sum(len(message) for _, message in found.values()) < 5_000
