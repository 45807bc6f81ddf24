"""Words before a number say what it is: a phone number, a tax number, or none of somebody.

A text full of numbers has hundreds of places before which such words are looked for. So they are looked for once in
the text, and where they stand is compared with the places.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

WORD = re.compile(r"\b[^\W\d]\w*")
ALTERNATIVE = re.compile(r"\|(?![^(]*\))")
NO_LITERALS = re.compile(r"\(\?:[^)]*\)\??|\[[^\]]*\]\??|\\[bdsSwW][*+?]?")
LITERALS = re.compile(r"(?:[^\W_]|\\\.|[- ])+(?![?*{])")
LEAST_CHARACTERS = 2
LONGEST = 24
"""No more characters than these belong to words beside a part of them that all have."""


@dataclass(frozen=True)
class ContextWords:
    """Whole words and beginnings of words, in small letters; see `of`."""

    words: frozenset[str]
    beginnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: str) -> "ContextWords":
        """Return the words of a text with spaces. An asterisk behind one means all words that begin so."""
        listed = words.split()
        return cls(
            frozenset(word for word in listed if not word.endswith("*")),
            tuple(word.removesuffix("*") for word in listed if word.endswith("*")),
        )

    def has(self, word: str) -> bool:
        """Return whether this word, in small letters, is one of them."""
        return word in self.words or word.startswith(self.beginnings)


class WordsInText:
    """Where some words stand in a text; it is searched when somebody asks first."""

    def __init__(self, words: ContextWords, text: str) -> None:
        self._words, self._text = words, text

    def stand_before(self, start: int, reach: int) -> bool:
        """Return whether one of the words stands in the `reach` characters before the place."""
        return self._found.stand_before(start, reach)

    @cached_property
    def _found(self) -> "FoundWords":
        found = [one for one in WORD.finditer(self._text) if self._words.has(one[0].lower())]
        return FoundWords([one.start() for one in found], [one.end() for one in found])


@dataclass(frozen=True)
class FoundWords:
    """Where words stand in a text: their starts and ends, in order."""

    starts: list[int]
    ends: list[int]

    def stand_before(self, start: int, reach: int) -> bool:
        """Return whether one of the words stands in the `reach` characters before the place."""
        last = bisect_right(self.ends, start) - 1
        return last >= 0 and self.starts[last] >= start - reach


NOWHERE = FoundWords([], [])


@dataclass(frozen=True)
class ContextPattern:
    """An expression for words, with literal parts, of which everything has one that the expression finds."""

    expression: re.Pattern[str]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, expression: str) -> "ContextPattern":
        """Return the expression, which is compared without regard to case.

        Raises ValueError for an alternative without two literal characters in sequence.
        """
        parts = tuple(map(_longest_literal, ALTERNATIVE.split(expression)))
        if short := [part for part in parts if len(part) < LEAST_CHARACTERS]:
            raise ValueError(f"An alternative of {expression} has no literal part but {short}.")
        return cls(re.compile(expression, re.IGNORECASE), parts)

    def places_in(self, text: str, lowered: str) -> FoundWords:
        """Return where the words stand in a text; `lowered` is the same in small letters, of the same length."""
        found: set[tuple[int, int]] = set()
        for part in self.parts:
            at = lowered.find(part)
            while at >= 0:
                end = at + len(part)
                if there := self.expression.search(text, max(0, at - LONGEST), end + LONGEST):
                    found.add(there.span())
                at = lowered.find(part, end)
        if not found:
            return NOWHERE
        places = sorted(found)
        return FoundWords([start for start, _ in places], [end for _, end in places])


@dataclass(frozen=True)
class PartsOfWords:
    """The literal parts of many expressions, which one search of a text finds."""

    any_part: re.Pattern[str]
    users: Mapping[str, frozenset[int]]
    """The numbers of the expressions with this part, or with a part of it."""

    @classmethod
    def of(cls, parts: Mapping[int, Sequence[str]]) -> "PartsOfWords":
        """Return the parts of the expressions with these numbers."""
        all_parts = sorted({part for some in parts.values() for part in some}, key=len, reverse=True)
        users = {
            part: frozenset(number for number, some in parts.items() if any(one in part for one in some))
            for part in all_parts
        }
        return cls(re.compile("|".join(map(re.escape, all_parts))), users)

    def found_in(self, lowered: str) -> set[int]:
        """Return the numbers of the expressions that may be found in a text in small letters."""
        return {number for part in set(self.any_part.findall(lowered)) for number in self.users[part]}


def small_letters(text: str) -> str:
    """Return the text in small letters, each in its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def _longest_literal(alternative: str) -> str:
    """Return the longest sequence of characters that everything has which one alternative of an expression finds."""
    literals = LITERALS.findall(NO_LITERALS.sub("\0", alternative))
    return max(literals, key=len, default="").replace("\\", "").lower()
