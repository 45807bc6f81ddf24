"""This module writes JSON in a canonical compact form, and checks that PostgreSQL's jsonb can store a value."""

import json
from typing import Any


def compact_json(value: Any) -> str:
    """Return the value as JSON without white space, with sorted keys and unescaped letters; its length is an event's
    size.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


MAX_DEPTH = 20
LARGEST, SMALLEST = 2**63 - 1, 1e-100

TOO_DEEP = f"Nest lists and objects at most {MAX_DEPTH} deep."
UNSTORABLE_TEXT = "NUL characters and lone surrogates cannot be stored. Remove them, from names as well as from values."
UNSTORABLE_NUMBER = (
    "Use numbers of at most 18 digits before the point, and not closer to 0 than 1e-100. Send others as texts."
)


def json_problem(value: Any, depth: int = 0) -> str:
    """Return a sentence that says why PostgreSQL cannot store the parsed JSON value; "" where it can."""
    if isinstance(value, str):
        return "" if is_storable(value) else UNSTORABLE_TEXT
    if isinstance(value, int | float):
        return "" if _is_storable_number(value) else UNSTORABLE_NUMBER
    if isinstance(value, dict | list):
        if depth == MAX_DEPTH:
            return TOO_DEEP
        inner = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        return next((fault for item in inner if (fault := json_problem(item, depth + 1))), "")
    return ""


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can store the text: it has no NUL and can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def _is_storable_number(number: float) -> bool:
    """Return whether the number is in the range that jsonb writes as briefly as it was sent.

    Outside of it, jsonb would write hundreds of digits for a few.
    """
    return number == 0 or SMALLEST <= abs(number) <= LARGEST  # false for infinity and NaN
