"""Personal data is found in texts that strangers wrote, and what resembles it is not."""

from itertools import pairwise

import pytest

from assembly.masking.placeholders import NAMES
from assembly.masking.recognition import find_personal_data
from assembly.masking.spans import Kind
from tests.assembly.masking.labelled_texts import figures_of, labelled_texts

LEAST = 0.95


@pytest.mark.parametrize("kind", NAMES)
def test_each_kind_is_found_and_nothing_else(kind: Kind) -> None:
    figures = figures_of(labelled_texts())[kind]
    assert figures.labels >= 70
    assert figures.recall >= LEAST
    assert figures.precision >= LEAST


def test_spans_are_in_order_and_do_not_overlap() -> None:
    for one in labelled_texts():
        spans = find_personal_data(one.text)
        assert all(earlier.end <= later.start for earlier, later in pairwise(spans))
        assert all(0 <= span.start < span.end <= len(one.text) for span in spans)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Write to ana.silva@example.org, please.", "email"),
        ("Pay to DE89 3704 0044 0532 0130 00 today", "iban"),
        ("de89370400440532013000", "iban"),
        ("Card 4111-1111-1111-1111 was used", "card"),
        ("The client 2001:db8::1 sent 3 packets", "ip"),
        ("call me: (415) 555-2671", "phone"),
        ("+49 30 901820", "phone"),
        ("SSN 315-59-7164", "national_id"),
        ("RSSMRA85T10A562S", "national_id"),
        ("VAT DE136695976", "tax_id"),
        ("Write to jörg+abo@münchen-post.de", "email"),
        ("用户@例子.公司", "email"),
        ("ana@xn--bcher-kva.xn--p1ai", "email"),
        ("Card 4111.1111.1111.1111", "card"),
        ("3782/822463/10005", "card"),
        ("NHS number 943 476 5870", "national_id"),
        ("PAN ACUPA7085R", "tax_id"),
        ("TFN 123 456 782", "tax_id"),
        ("RFC GODE561231GR8", "tax_id"),
        ("NIT 213.123.432-1", "tax_id"),
        ("ИНН 7707083893", "tax_id"),
    ],
)
def test_one_of_each(text: str, kind: Kind) -> None:
    assert [span.kind for span in find_personal_data(text)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No number here.",
        "Release 10.4.0.1 of 2024-05-06 12:30",
        "user@host and @mention",
        "Card 4111 1111 1111 1112 fails the check",
        "DE88 3704 0044 0532 0130 00",
        "order 4006381333931, ISBN 978-3-16-148410-0",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "(" * 5_000 + "1" * 5_000,
        "a@" * 5_000,
        "1-" * 5_000,
        "A1 " * 5_000,
    ],
)
def test_none(text: str) -> None:
    assert find_personal_data(text) == []
