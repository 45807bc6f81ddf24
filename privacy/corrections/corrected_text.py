"""A wrong value is replaced in texts however it is spelt. Pure: no database, no framework.

A name keeps the form in which it was written: “Okafor, Ada” becomes “Okoro, Ada”, and “A. Okafor” becomes “A. Okoro”.
Where the right value stands already, nothing is replaced, also if the wrong one is a part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privacy.subjects.spellings import NAME_PARTS, Spellings, normalised_identifier, spellings_of

WORDS = frozenset({"name", "other"})
"""Kinds of values that are written in capital letters where the wrong one is."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The characters `start` to before `end` of a text become `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class ValueCorrection:
    """A wrong value and the right one; `kind` is one of IdentifierKind and says how the wrong one may be spelt."""

    kind: str
    wrong: str
    right: str

    @cached_property
    def wrong_spellings(self) -> Spellings:
        """The expressions that find the wrong value."""
        return spellings_of([(self.kind, self.wrong)])

    @cached_property
    def _right_spellings(self) -> Spellings:
        return spellings_of([(self.kind, self.right)])

    def is_wrong_identifier(self, kind: str, value: str) -> bool:
        """Return whether an identifier of a subject is the wrong value, in any spelling.

        A value of no particular kind may be an identifier of any kind.
        """
        same = normalised_identifier(kind, value) == normalised_identifier(kind, self.wrong)
        return self.kind in {kind, "other"} and same

    def replacements(self, text: str) -> list[Replacement]:
        """Return what is replaced in the text, in order and without overlaps."""
        found = self.wrong_spellings.places(text)
        if not found:
            return []
        kept = self._right_spellings.places(text)
        return [
            Replacement(place.start, place.end, self._spelt_as(text[place.start : place.end]))
            for place in found
            if not any(right.start <= place.start and place.end <= right.end for right in kept)
        ]

    def corrected(self, text: str) -> str:
        """Return the text with the right value."""
        parts, end = [], 0
        for one in self.replacements(text):
            parts += [text[end : one.start], one.new]
            end = one.end
        return "".join([*parts, text[end:]])

    def corrected_value(self, value: Any) -> Any:
        """Return a value of a column with the right value in it: a text, a list, or JSON with names of members."""
        if isinstance(value, str):
            return self.corrected(value)
        if isinstance(value, Mapping):
            return {self.corrected(name): self.corrected_value(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.corrected_value(one) for one in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and self.replacements(str(value)):
            return int(self.right) if self.right.isascii() and self.right.isdigit() else self.right
        return value

    def _spelt_as(self, written: str) -> str:
        """Return the right value in the form in which the wrong one was written."""
        right = " ".join(self.right.split())
        if self.kind == "name":
            right = _name_as(written, right)
        in_capitals = written.isupper() and not self.wrong.isupper() and self.kind in WORDS
        return right.upper() if in_capitals else right


def _name_as(written: str, right: str) -> str:
    """Return a name with its parts in the order, and with the initial, of the one that is replaced."""
    last, comma, first = right.partition(",")
    parts = [first.strip(), last.strip()] if comma else right.rsplit(" ", 1)
    if len(parts) < NAME_PARTS:
        return right
    first, last = parts
    before, comma, after = (part.strip() for part in written.partition(","))
    if comma:
        return f"{last}, {first[0]}." if after.endswith(".") else f"{last}, {first}"
    return f"{first[0]}. {last}" if before.split()[0].endswith(".") or before[1:2] == "." else f"{first} {last}"
