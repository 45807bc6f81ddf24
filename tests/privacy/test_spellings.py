"""Identifiers are found in every usual spelling, and not in what only looks like them."""

import unicodedata

import pytest

from privacy.subjects.spellings import fault_of, normalised_identifier, spellings_of

IDENTIFIERS = [
    ("name", "Ada Okafor"),
    ("email", "Ada.Okafor@Example.org"),
    ("phone", "+49 171 1234567"),
    ("iban", "DE89 3704 0044 0532 0130 00"),
    ("national_id", "123-45-6789"),
    ("customer_number", "KD-10023"),
    ("username", "ada.o"),
]


def found(text: str, identifiers: list[tuple[str, str]] | None = None) -> list[str]:
    spellings = spellings_of(identifiers or IDENTIFIERS)
    return [text[place.start : place.end] for place in spellings.places(text)]


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("Ada Okafor called.", "Ada Okafor"),
        ("to ADA  OKAFOR", "ADA  OKAFOR"),
        ("Ada\nOkafor", "Ada\nOkafor"),
        ("Ada\u00a0Okafor", "Ada\u00a0Okafor"),
        ("Ada Okafor's dog", "Ada Okafor"),
        ("Okafor, Ada (1980)", "Okafor, Ada"),
        ("Okafor,Ada", "Okafor,Ada"),
        ("signed A. Okafor", "A. Okafor"),
        ("signed Okafor, A.", "Okafor, A."),
        ("mail ada.okafor@example.org.", "ada.okafor@example.org"),
        ("<ADA.OKAFOR@EXAMPLE.ORG>", "ADA.OKAFOR@EXAMPLE.ORG"),
        ("call +49 171 1234567", "+49 171 1234567"),
        ("call +49 (0)171 123-4567", "+49 (0)171 123-4567"),
        ("call 0049 171 123 45 67", "0049 171 123 45 67"),
        ("call 0171/1234567", "0171/1234567"),
        ("call (0171) 123.4567", "(0171) 123.4567"),
        ("from de89370400440532013000", "de89370400440532013000"),
        ("from DE89 3704-0044 0532 0130 00", "DE89 3704-0044 0532 0130 00"),
        ("SSN 123456789", "123456789"),
        ("SSN 123 45 6789", "123 45 6789"),
        ("order of KD10023", "KD10023"),
        ("order of kd 10023", "kd 10023"),
        ("@ada.o wrote", "ada.o"),
    ],
)
def test_a_spelling_is_found_as_it_stands_there(text: str, spelling: str) -> None:
    assert found(text) == [spelling]


@pytest.mark.parametrize(
    "text",
    [
        "Ms Ada Okaforian",
        "Adaline Okafor",
        "J. Okafor",
        "Okafor",
        "Ada Maria Okafor",
        "xada.okafor@example.org",
        "ada.okafor@example.org.uk",
        "ada.okafor@example.organisation",
        "51711234567",
        "0171 12345678",
        "+48 171 12345679",
        "XDE89370400440532013000",
        "DE893704004405320130001",
        "1234567890",
        "KD100234",
        "AKD10023",
        "ada.o@example.org",
        "ada.okapi",
    ],
)
def test_false_friends_are_not_found(text: str) -> None:
    assert found(text) == []


def test_accents_apostrophes_and_hyphens_may_be_written_otherwise() -> None:
    identifiers = [("name", "Zoë O'Brien-Smith")]
    for text in ("zoë O\u2019Brien\u2011Smith", unicodedata.normalize("NFD", "Zoë O'Brien-Smith")):
        assert found(text, identifiers) == [text]


def test_a_number_without_a_country_is_found_with_one() -> None:
    assert found("+49 171 1234567, 0171-1234567", [("phone", "0171 1234567")]) == ["+49 171 1234567", "0171-1234567"]


def test_spellings_do_not_overlap_and_are_in_order() -> None:
    text = "Ada Okafor <ada.okafor@example.org>, KD-10023, then Okafor, Ada"
    assert found(text) == ["Ada Okafor", "ada.okafor@example.org", "KD-10023", "Okafor, Ada"]


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("name", "Ada  OKAFOR", "Okafor, Ada"),
        ("email", "Ada@Example.org", "ada@example.ORG"),
        ("phone", "+49 171 1234567", "0049-171-1234567"),
        ("phone", "0171 1234567", "(0171) 1234567"),
        ("iban", "DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("customer_number", "KD-10023", "kd 10023"),
    ],
)
def test_equal_identifiers_are_normalised_alike(kind: str, one: str, other: str) -> None:
    assert normalised_identifier(kind, one) == normalised_identifier(kind, other)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("email", "ada"), ("phone", "12"), ("customer_number", "K-1"), ("name", "A"), ("other", "!!!"), ("iban", "DE")],
)
def test_what_would_be_found_everywhere_is_refused(kind: str, value: str) -> None:
    assert fault_of(kind, value)


def test_a_long_text_is_read_in_reasonable_steps() -> None:
    """Of a text of digits and separators alone, each place is tried once: no pattern backtracks over all of it."""
    assert found("0171 " * 20_000 + "9 8 7 6 5 " * 5_000) == []
