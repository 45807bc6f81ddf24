"""A span is a place in a text where personal data stands, with its kind; context words around it help to tell."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from assembly.masking.context_words import ContextWords

Kind = Literal["email", "phone", "iban", "card", "ip", "national_id", "tax_id"]

CONTEXT_REACH = 160
"""The number of characters before a number in which a word can say what the number is."""
NAME_REACH = 40
SEPARATORS = re.compile(r"[\s.()/-]")
"""Characters between the digits of a number that are no part of it."""
OTHER_WORDS = (
    "part kit sku model article artikel art item order bestell pedido ordine invoice rechnung ticket billet biglietto "
    "boleto serial series seri serien bin tender awb batch lot charge isbn ean gtin replaces replaced sn pn ref "
    "reference referenz tracking sendung aktenzeichen port row uuid barcode shelf seal container vergabe ausschreibung "
    "customer account gas wasser strom"
)
OTHER_BEGINNINGS = "haushalts inventar kunden konto zähler"
OTHER_NUMBERS = ContextWords.of(
    " ".join(
        [
            *(f"{word} {word}s" for word in OTHER_WORDS.split()),
            *(f"{word}*" for word in OTHER_BEGINNINGS.split()),
        ]
    )
)
"""Words directly before a number that name another kind of number."""
OTHER_NUMBER = re.compile(
    rf"\b(?:(?:{'|'.join(OTHER_WORDS.split())})s?|(?:{'|'.join(OTHER_BEGINNINGS.split())})\w*)\b"
    r"[\w ./#:=n°º-]{0,16}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Personal data of one kind in a text, from the character `start` to before `end`."""

    kind: Kind
    start: int
    end: int


def names_another_number(text: str, start: int) -> bool:
    """Return whether a word directly before the place says that the number is no personal data."""
    before = text[max(0, start - NAME_REACH) : start]
    return OTHER_NUMBERS.are_in(before) and OTHER_NUMBER.search(before) is not None


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
