"""The renderer writes what Django REST framework's writes, as far as a reader of JSON can tell."""

import datetime
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as some
from rest_framework.renderers import JSONRenderer

from config.http.serializers import FastJSONRenderer
from memories.models import JobStatus

texts = some.text(max_size=10)
numbers = some.integers() | some.floats(allow_nan=False, allow_infinity=False)
documents = some.recursive(
    some.none() | some.booleans() | numbers | texts,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@given(documents)
def test_any_document_means_the_same(document: Any) -> None:
    expected = JSONRenderer().render(document)
    assert json.loads(FastJSONRenderer().render(document) or b"0") == json.loads(expected or b"0")


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime(2026, 3, 14, 15, 9, 26, 535_897, datetime.UTC),
        datetime.datetime(2026, 3, 14, 15, 9, 26, tzinfo=datetime.UTC),
        datetime.date(2026, 3, 14),
        datetime.time(15, 9),
        datetime.timedelta(minutes=3),
        UUID("01a1fd3a-1314-7562-b09d-e7ce955693b7"),
        Decimal("1.50"),
        gettext_lazy("Yes"),
        JobStatus.QUEUED,
        (1, 2),
        {1: "one", "é": "ü\u2028\x00"},
        2**80,
        b"bytes",
    ],
)
def test_values_of_other_kinds_mean_the_same(value: Any) -> None:
    expected = json.loads(JSONRenderer().render([value]))
    assert json.loads(FastJSONRenderer().render([value])) == expected


def test_nothing_is_written_for_nothing_and_an_indent_is_kept() -> None:
    assert FastJSONRenderer().render(None) == b""
    assert FastJSONRenderer().render({"a": 1}, "application/json; indent=2") == b'{\n  "a": 1\n}'
