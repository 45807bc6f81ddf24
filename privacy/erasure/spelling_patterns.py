"""Spellings of a person become expressions that PostgreSQL and Python understand alike. Pure.

A spelling is found as a whole, in any case, with any white space between its words. In JSON text, where a line break
is two characters, a looser expression finds candidates.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assembly.models.assembly import ERASED

LEAST_CHARACTERS = 2
SPECIAL = re.compile(r"([^\w\s])")
SPACE, JSON_SPACE = r"\s+", r"(?:\s|\\[nrtf])+"
PYTHON_WORD = r"[^\W_]"


@dataclass(frozen=True)
class SpellingPatterns:
    """The expressions for some spellings; the longest are tried first, so that no part of a longer one remains."""

    spellings: tuple[str, ...]

    @classmethod
    def of(cls, spellings: Iterable[str]) -> "SpellingPatterns":
        """Return the patterns of these spellings; those with fewer than two characters are left out."""
        trimmed = {" ".join(one.split()) for one in spellings}
        written = {unicodedata.normalize(form, one) for one in trimmed for form in ("NFC", "NFD")}
        return cls(
            tuple(sorted((one for one in written if len(one) >= LEAST_CHARACTERS), key=lambda one: (-len(one), one)))
        )

    @cached_property
    def strict(self) -> str:
        """The expression for PostgreSQL that finds whole spellings."""
        return f"(?<![[:alnum:]])(?:{self._any(SPACE)})(?![[:alnum:]])"

    @cached_property
    def loose(self) -> str:
        """The expression for PostgreSQL that finds at least everything that `strict` finds, also in JSON text."""
        return f"(?:{self._any(JSON_SPACE)})"

    @cached_property
    def _strict(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!{PYTHON_WORD})(?:{self._any(SPACE)})(?!{PYTHON_WORD})", re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Return whether one of the spellings stands in the text."""
        return bool(self._strict.search(text))

    def may_be_in(self, text: str) -> bool:
        """Return whether something stands in the text that `loose` finds, such as a part of a longer word."""
        return bool(re.search(self.loose, text, re.IGNORECASE))

    def replaced(self, text: str, note: str = ERASED) -> str:
        """Return the text with a notice in place of each spelling."""
        return self._strict.sub(note, text)

    def replaced_value(self, value: Any) -> Any:
        """Return the JSON value with a notice in place of each spelling, in names of members, too."""
        if isinstance(value, str):
            return self.replaced(value)
        if isinstance(value, dict):
            return {self.replaced(name): self.replaced_value(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self.replaced_value(one) for one in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return ERASED if is_number and self.is_in(str(value)) else value

    def is_in_value(self, value: Any) -> bool:
        """Return whether one of the spellings stands in any text of a JSON value, names of members included."""
        if isinstance(value, str):
            return self.is_in(value)
        if isinstance(value, dict):
            return any(self.is_in(str(key)) or self.is_in_value(one) for key, one in value.items())
        if isinstance(value, list | tuple):
            return any(map(self.is_in_value, value))
        return isinstance(value, int | float) and not isinstance(value, bool) and self.is_in(str(value))

    def _any(self, space: str) -> str:
        return "|".join(space.join(_literal(word) for word in one.split()) for one in self.spellings)


def _literal(word: str) -> str:
    """Return the word with its signs escaped by brackets or a backslash, which both kinds of expressions know."""
    return SPECIAL.sub(lambda sign: rf"\{sign[1]}", word)
