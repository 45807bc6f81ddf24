"""Words before a number say what it is: a phone number, a tax number, or none of somebody.

A text full of numbers has hundreds of places before which such words are looked for. So the words of the place are
compared with a set first, or the whole text with parts that all such words have; most have none, and are done.
"""

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

WORD = re.compile(r"\w+")
ALTERNATIVE = re.compile(r"\|(?![^(]*\))")
NO_LETTERS = re.compile(r"\(\?:[^)]*\)\??|\[[^\]]*\]\??|\\[bdsSwW][*+?]?")
LETTERS = re.compile(r"[^\W\d_]+(?![?*{])")
LEAST_LETTERS = 2


@dataclass(frozen=True)
class ContextWords:
    """Whole words, and beginnings of words, in small letters; `phrase` has to be found, too, if there is one.

    `ends_before` is an expression for several words in sequence, which count by themselves.
    """

    words: frozenset[str]
    beginnings: tuple[str, ...] = ()
    phrase: re.Pattern[str] | None = None

    @classmethod
    def of(cls, words: str, phrase: str = "") -> "ContextWords":
        """Return the words of a text with spaces; of one with an asterisk behind it, all longer ones count as well."""
        all_words = words.split()
        return cls(
            frozenset(word for word in all_words if not word.endswith("*")),
            tuple(word.removesuffix("*") for word in all_words if word.endswith("*")),
            re.compile(phrase, re.IGNORECASE) if phrase else None,
        )

    def stand_before(self, text: str, start: int, reach: int) -> bool:
        """Return whether one of the words stands in the `reach` characters before the place."""
        before = text[max(0, start - reach) : start].lower()
        for word in WORD.findall(before):
            if word in self.words or word.startswith(self.beginnings):
                return self.phrase is None or self.phrase.search(before) is not None
        return False


@dataclass(frozen=True)
class ContextPattern:
    """An expression for words, with parts of words of which every text has one in which it is found."""

    expression: re.Pattern[str]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, expression: str) -> "ContextPattern":
        """Return the expression, which is compared without regard to case."""
        return cls(re.compile(expression, re.IGNORECASE), tuple(map(_longest_part, ALTERNATIVE.split(expression))))

    def ends_in(self, text: str, lowered: str) -> list[int]:
        """Return where the words end in a text, in order; `lowered` is the same in small letters."""
        if not any(part in lowered for part in self.parts):
            return []
        return [found.end() for found in self.expression.finditer(text)]


def stands_before(ends: Collection[int], start: int, reach: int) -> bool: ...


def _longest_part(alternative: str) -> str:
    """Return the longest letters that everything has that one alternative of an expression finds; empty if unknown."""
    parts = LETTERS.findall(NO_LETTERS.sub(" ", alternative))
    longest = max(parts, key=len, default="")
    return longest.lower() if len(longest) >= LEAST_LETTERS else ""
