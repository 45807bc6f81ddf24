"""The packed body of a record has exactly the contents that were packed, and a damaged one is refused."""

import json
import zlib
from typing import Any
from uuid import uuid4

import pytest

from assembly.models.assembly import BODY_FORMAT, EMPTIED_BODY, EMPTY_CONTENTS, packed, unpacked


@pytest.mark.parametrize(
    "value",
    [2**70, -(2**70), 2**64 - 1, 0.1 + 0.2, -0.0, 1e-320, 1.0, "", "\u0000 \u2028 ä \U0001f600", None, [True, {}]],
)
def test_contents_are_unpacked_as_they_were_packed(value: Any) -> None:
    found = unpacked(packed({"value": value}), uuid4())
    assert repr(found) == repr({"value": value})


def test_a_body_that_an_erasure_emptied_can_be_read() -> None:
    assert unpacked(EMPTIED_BODY, uuid4()) == json.loads(EMPTY_CONTENTS)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        BODY_FORMAT,
        BODY_FORMAT + b"text",
        packed({"value": 1})[:-1],
        BODY_FORMAT + zlib.compress(b'{"value":'),
        BODY_FORMAT + zlib.compress(b'{"value": "\xff"}'),
        BODY_FORMAT + zlib.compress(b"[]"),
    ],
)
def test_a_damaged_body_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="The body of this record"):
        unpacked(damaged, uuid4())
