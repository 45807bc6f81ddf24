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
OTHER_NUMBERS = ContextWords(
    r"\b(?:part|kit|sku|model|article|artikel|art|item|order|bestell|pedido|ordine|invoice|rechnung|ticket|billet|biglietto|boleto|serial|series|"
    r"seri(?:en|al)?|bin|bins|tender|awb|batch|lot|charge|isbn|ean|gtin|replaces|replaced|sn|pn|"
    r"ref|reference|referenz|tracking|sendung|aktenzeichen|port|row|rows|uuid|barcode|shelf|seal|container|vergabe|"
    r"ausschreibung|haushalts\w*|inventar\w*|kunden\w*|customer|account|konto\w*|zähler\w*|gas|wasser|strom)s?"
    r"\b[\w ./#:=n°º-]{0,16}$"
)
"""Words before a number that name another kind of number."""


@dataclass(frozen=True, slots=True)
class Span:
    """Personal data of one kind in a text, from the character `start` to before `end`."""

    kind: Kind
    start: int
    end: int


def names_another_number(text: str, start: int) -> bool:
    """Return whether a word directly before the place says that the number is no personal data."""
    return OTHER_NUMBERS.stand_before(text, start, NAME_REACH)


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in the order of the text; of overlapping ones, the first that was given stays."""
    kept: list[Span] = []  # in the order of the text
    for span in spans:
        place = bisect_left(kept, span.start, key=_start_of)
        is_free = place == 0 or kept[place - 1].end <= span.start
        if is_free and (place == len(kept) or span.end <= kept[place].start):
            kept.insert(place, span)
    return kept


def _start_of(span: Span) -> int:
    return span.start
