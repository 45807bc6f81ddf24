"""Phone numbers: international ones by their prefix; others by words before them, or by a form that only they have."""

import re
from collections.abc import Iterator

import phonenumbers

from assembly.masking.number_plans import is_international_number, is_national_number
from assembly.masking.spans import SEPARATORS, ContextWords, Span, names_another_number

REGIONS = (
    "US",
    "GB",
    "DE",
    "FR",
    "ES",
    "IT",
    "NL",
    "AT",
    "CH",
    "BE",
    "IE",
    "AU",
    "SE",
    "DK",
    "PL",
    "BR",
    "IN",
    "CA",
    "MX",
    "PT",
    "NO",
    "FI",
    "CZ",
    "RO",
    "GR",
    "NZ",
    "ZA",
    "JP",
)
"""Regions whose national formats are known."""
CANDIDATE = re.compile(
    r"(?<![\w.,/-])(?<![\d] )(?:\+|\(|00)?\(?\d(?:[ \-./()]{0,3}\d){5,14}(?: ?(?:ext\.?|x|Durchwahl|-) ?\d{1,5}(?!\d))?"
    r"(?![\w]|[-/.:,]\d)"
)
WORDS = ContextWords(
    r"\b(?:tels?|tél|phone|mobil\w*|móvil|mobiel|handy|cell(?:phone|ular)?|cel|portable|fixe|landline|desk|hotline|fax|fon|telefon\w*"
    r"|téléphone\w*|teléfono|rufnummer|durchwahl|zentrale|call\w*|appel\w*|composez|numéro|ring|text|whatsapp|sms|dial\w*|reach\w*|contact\w*"
    r"|erreich\w*|rückfragen|unter|rappeler|joindre|chiam\w*|llam\w*|bel\w*|contacto|nummer|his|her|number is"
    r"|(?:direct|desk|main) line|(?:new|neue|nieuwe?) number)\b"
)
"""Words with which texts announce a phone number."""
SELF_EVIDENT = re.compile(
    r"\(\d{3}\) \d{3}-\d{4}"  # North America
    r"|\d{3}[-.]\d{3}[-.]\d{4}"
    r"|0\d{1,5}(?: [-/] |[ /-])\d[\d -]{3,}\d"  # most of Europe: an area code that begins with 0
    r"|0\d(?: \d\d){4}"  # France
    r"|\(0\d{1,4}\) ?\d[\d -]{4,}"
)
EXTENSION = re.compile(r" ?(?:ext\.?|x|Durchwahl) ?\d{1,5}$")
NO_DIGITS = re.compile(r"\D+")
DATE = re.compile(r"\d{2}([-/.])\d{2}\1\d{4}")
COUNTED = re.compile(
    r" ?(?:rows|lines|bytes?|records|entries|items|zeilen|tokens|px|ms|kwh|km|kg|eur|€|%)\b", re.IGNORECASE
)
WORD_REACH = 48
LEAST_DIGITS, MOST_DIGITS = 7, 15


def find_phone_numbers(text: str) -> Iterator[Span]:
    """Yield the phone numbers of a text, with their extensions."""
    for found in CANDIDATE.finditer(text):
        start, number = found.start(), found[0]
        if number.startswith("(") and ")" not in number:
            start, number = start + 1, number[1:]
        if _is_phone_number(text, start, number):
            yield Span("phone", start, found.end())


def _is_phone_number(text: str, start: int, number: str) -> bool:
    without_extension = EXTENSION.sub("", number)
    digits = NO_DIGITS.sub("", without_extension)
    if not LEAST_DIGITS <= len(digits) <= MOST_DIGITS:
        return False
    if number.startswith(("+", "00")):
        return is_international_number(digits.lstrip("0"))
    return (
        (SELF_EVIDENT.fullmatch(without_extension) is not None or WORDS.stand_before(text, start, WORD_REACH))
        and is_national_number(digits, REGIONS)
        and not DATE.fullmatch(number)
        and not COUNTED.match(text, start + len(number))
        and not names_another_number(text, start)
    )


def canonical_phone_number(number: str) -> str:
    """Return a number with the prefix of its country as RFC 3966 writes it, so that all its spellings are equal; of any
    other one, whose country is not known, its digits and letters.
    """
    written = number.strip(" ()")
    if not written.startswith(("+", "00")):
        return SEPARATORS.sub("", number).upper()
    try:
        parsed = phonenumbers.parse("+" + written.lstrip("+0"), None)
    except phonenumbers.NumberParseException:
        return SEPARATORS.sub("", number).upper()
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.RFC3966)
