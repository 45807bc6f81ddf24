"""Phone numbers: international ones by their prefix; others by words before them, or by a form that only they have."""

import re
from collections.abc import Iterator
from functools import cached_property

import phonenumbers

from assembly.masking.context_words import ContextPattern, ContextWords, WordsInText
from assembly.masking.number_plans import is_international_number, is_national_number
from assembly.masking.spans import SEPARATORS, Span, names_another_number

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
    r"(?=[+(\d])(?<![\w.,/-])(?<![\d] )((?:\+|\(|00)?\(?\d(?:[ \-./()]{0,3}\d){5,14}(?: ?- ?\d{1,5}(?!\d))?)"
    r"(?: ?(?:ext\.?|x|Durchwahl) ?\d{1,5}(?!\d))?"
    r"(?![\w]|[-/.:,]\d)"
)
WORDS = ContextWords.of(
    "tel tels tél phone mobil* móvil mobiel handy cell cellphone cellular* celular* cel gsm tlf portable fixe landline "
    "desk hotline fax fon telefon* téléphone* teléfono rufnummer durchwahl zentrale call* appel* composez numéro ring "
    "text whatsapp sms dial* reach* contact* erreich* rückfragen unter rappeler joindre chiam* llam* bel* contacto "
    "nummer his her"
)
"""Words with which texts announce a phone number."""
PHRASES = ContextPattern.of(r"\bnumber is\b|\b(?:direct|desk|main) line\b|\b(?:new|neue|nieuwe?) number\b")
SELF_EVIDENT = re.compile(
    r"\(\d{3}\) \d{3}-\d{4}"  # North America
    r"|\d{3}[-.]\d{3}[-.]\d{4}"
    r"|0\d{1,5}(?: [-/] |[ /-])\d[\d -]{3,}\d"  # most of Europe: an area code that begins with 0
    r"|0\d(?: \d\d){4}"  # France
    r"|\(0\d{1,4}\) ?\d[\d -]{4,}"
)
NO_DIGITS = str.maketrans("", "", "+ -./()")
"""Removes what may stand between the digits of a number."""
DATE = re.compile(r"\d{2}([-/.])\d{2}\1\d{4}")
COUNTED = re.compile(
    r" ?(?:rows|lines|bytes?|records|entries|items|zeilen|tokens|px|ms|kwh|km|kg|eur|€|%)\b", re.IGNORECASE
)
WORD_REACH = 48
LEAST_DIGITS, MOST_DIGITS = 7, 15


def find_phone_numbers(text: str) -> Iterator[Span]:
    """Yield the phone numbers of a text, with their extensions."""
    around: _Surroundings | None = None
    for found in CANDIDATE.finditer(text):
        start, number = found.start(), found[1]
        if number.startswith("(") and ")" not in number:
            start, number = start + 1, number[1:]
        around = around or _Surroundings(text)
        if _is_phone_number(around, start, number, found.end()):
            yield Span("phone", start, found.end())


class _Surroundings:
    """A text with the words in it that announce a phone number."""

    def __init__(self, text: str) -> None:
        self.text, self._words = text, WordsInText(WORDS, text)

    def announce(self, start: int) -> bool:
        """Return whether words announce a phone number at this place."""
        if self._words.stand_before(start, WORD_REACH):
            return True
        return self._may_have_phrases and PHRASES.stand_before(self.text, start, WORD_REACH)

    @cached_property
    def _may_have_phrases(self) -> bool:
        return PHRASES.may_be_in(self.text.lower())


def _is_phone_number(around: _Surroundings, start: int, number: str, end: int) -> bool:
    """Return whether this is a phone number; `number` is what stands from `start` to `end`, without an extension."""
    digits = number.translate(NO_DIGITS)
    if not LEAST_DIGITS <= len(digits) <= MOST_DIGITS:
        return False
    if number.startswith(("+", "00")):
        return is_international_number(digits.lstrip("0"))
    return (
        (SELF_EVIDENT.fullmatch(number) is not None or around.announce(start))
        and is_national_number(digits, REGIONS)
        and not DATE.fullmatch(number)
        and not COUNTED.match(around.text, end)
        and not names_another_number(around.text, start)
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
