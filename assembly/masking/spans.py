"""A span is a place in a text where personal data stands, with its kind; context words around it help to tell."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["email", "phone", "iban", "card", "ip", "national_id", "tax_id"]

CONTEXT_REACH = 160
"""The number of characters before a number in which a word can say what the number is."""
NAME_REACH = 40
SEPARATORS = re.compile(r"[\s.()/-]")
"""Characters between the digits of a number that are no part of it."""
OTHER_NUMBERS = re.compile(
    r"\b(?:part|kit|sku|model|article|artikel|art|item|order|bestell|pedido|ordine|invoice|rechnung|ticket|billet|biglietto|boleto|serial|series|"
    r"seri(?:en|al)?|bin|bins|tender|awb|batch|lot|charge|isbn|ean|gtin|replaces|replaced|sn|pn|"
    r"ref|reference|referenz|tracking|sendung|aktenzeichen|port|row|rows|uuid|barcode|shelf|seal|container|vergabe|"
    r"ausschreibung|haushalts\w*|inventar\w*|kunden\w*|customer|account|konto\w*|zähler\w*|gas|wasser|strom)s?"
    r"\b[\w ./#:=n°º-]{0,16}$",
    re.IGNORECASE,
)
"""Words before a number that name another kind of number."""


@dataclass(frozen=True, slots=True)
class Span:
    """Personal data of one kind in a text, from the character `start` to before `end`."""

    kind: Kind
    start: int
    end: int


def follows(pattern: re.Pattern[str], text: str, start: int, reach: int = CONTEXT_REACH) -> bool:
    """Return whether the pattern is found in the `reach` characters before the place."""
    return pattern.search(text, max(0, start - reach), start) is not None


def names_another_number(text: str, start: int) -> bool:
    """Return whether a word directly before the place says that the number is no personal data."""
    return OTHER_NUMBERS.search(text[max(0, start - NAME_REACH) : start]) is not None


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in the order of the text; of overlapping ones, the first that was given stays."""
    kept: list[Span] = []
    for span in spans:
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)
