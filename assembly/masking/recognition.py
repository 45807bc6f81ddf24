"""Recognition finds the personal data in a text."""

import re

from assembly.masking.account_numbers import find_cards, find_ibans
from assembly.masking.identity_numbers import find_identity_numbers
from assembly.masking.network_addresses import find_emails, find_ip_addresses
from assembly.masking.phone_numbers import find_phone_numbers
from assembly.masking.spans import Span, without_overlaps

DIGIT = re.compile(r"\d")
UNUSUAL_SPACES = "\u00a0\u202f\u2007\u2009"
"""Spaces at which lines do not break, and narrow ones, stand between the digits of numbers."""


def find_personal_data(text: str) -> list[Span]:
    """Return where personal data stands in the text, in order and without overlaps.

    Of readings of the same place, the one with the stronger check wins: an IBAN before a number of a card, and a phone
    number last.
    """
    if not text.isascii():
        for space in UNUSUAL_SPACES:
            text = text.replace(space, " ")
    found = [*find_emails(text)]
    if DIGIT.search(text):
        for find in (find_ibans, find_ip_addresses, find_cards, find_identity_numbers, find_phone_numbers):
            found += find(text)
    return without_overlaps(found) if len(found) > 1 else found
