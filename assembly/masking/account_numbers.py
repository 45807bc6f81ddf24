"""Numbers of bank accounts (IBAN) and of payment cards, by their check digits."""

import re
from collections.abc import Iterator

from stdnum import iban, luhn

from assembly.masking.spans import SEPARATORS, Span

IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
CARD = re.compile(
    r"(?<![\w.,-])(?:\d(?:[ -]?\d){12,18}(?![\w-]|[.,]\d)"
    r"|(?:\d{4}([._/·\u2013\u2014])\d{4}\1\d{4}\1\d{4}|3\d{3}([._/·\u2013\u2014])\d{6}\2\d{5})(?![\w-]|[.,/]\d))"
)
"""Spaces and hyphens may stand anywhere in the number; other separators in its usual groups, everywhere the same."""
NO_DIGITS = re.compile(r"\D")
CARD_DIGITS = {"3": {14, 15, 16}, "4": {16, 19}, "5": {16, 19}, "6": {16, 18, 19}, "2": {16}}
"""The lengths of numbers of payment cards by their first digit (ISO/IEC 7812 and the ranges of the issuers)."""
CARD_PREFIX = re.compile(
    r"4|5[0-8]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|30[0-59]|3[689]|35(?:2[89]|[3-8])|6(?:011|[23457])"
)
LEAST_IBAN_CHARACTERS = 15


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the valid IBANs of a text. What follows an IBAN after a space is not taken with it."""
    for found in IBAN.finditer(text):
        end = _valid_end(text, found.start(), found.end())
        if end is not None:
            yield Span("iban", found.start(), end)


def _valid_end(text: str, start: int, end: int) -> int | None:
    """Return the end of the longest valid IBAN that begins here and ends before `end`; None if there is none."""
    while end - start >= LEAST_IBAN_CHARACTERS:
        if _has_check_digits(text[start:end]) and iban.is_valid(text[start:end]):
            return end
        end = max(text.rfind(" ", start, end), text.rfind("-", start, end))
    return None


def _has_check_digits(number: str) -> bool:
    """Return whether the check digits are right (ISO 7064), which says no to most without the rules of countries."""
    letters = SEPARATORS.sub("", number).upper()
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


def find_cards(text: str) -> Iterator[Span]:
    """Yield the numbers of payment cards: of a known issuer, with the right length and check digit."""
    for found in CARD.finditer(text):
        digits = NO_DIGITS.sub("", found[0])
        has_length = len(digits) in CARD_DIGITS.get(digits[0], ())
        if has_length and CARD_PREFIX.match(digits) and luhn.is_valid(digits):
            yield Span("card", found.start(), found.end())
