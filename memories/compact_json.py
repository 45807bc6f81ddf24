"""JSON as short as it gets, and always the same for the same value: what the size of an event counts."""

import json
from typing import Any


def compact(value: Any) -> str:
    """The value as JSON without white space, its keys in order, its letters not escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
