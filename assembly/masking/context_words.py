"""Words before a number say what it is: a phone number, a tax number, or none of somebody.

A text full of numbers has hundreds of places before which such words are looked for. So no part of a text is searched
twice for them: where they stand is compared with the places.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WORD = re.compile(r"\b[^\W\d]\w*")
ALTERNATIVE = re.compile(r"\|(?![^(]*\))")
NO_LITERALS = re.compile(r"\(\?:[^)]*\)\??|\[[^\]]*\]\??|\\[bdsSwW][*+?]?")
LITERALS = re.compile(r"(?:[^\W_]|\\\.|[- ])+(?![?*{])")
LEAST_CHARACTERS = 2


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

    def are_in(self, text: str) -> bool:
        """Return whether one of the words stands in the text."""
        return any(map(self.has, WORD.findall(text.lower())))

    def has(self, word: str) -> bool:
        """Return whether this word, in small letters, is one of them."""
        return word in self.words or word.startswith(self.beginnings)


class WordsInText:
    """Where some words stand in a text, which is searched from place to place: nothing of it twice."""

    def __init__(self, words: ContextWords, text: str) -> None:
        self._words, self._text = words, text
        self._searched_to, self._last = 0, -1

    def stand_before(self, start: int, reach: int) -> bool:
        """Return whether one of the words begins in the `reach` characters before the place.

        Places have to rise, and the reach has to be the same for all.
        """
        begin = max(self._searched_to, start - reach)
        for found in WORD.finditer(self._text, begin, start):
            if self._words.has(found[0].lower()):
                self._last = found.start()
        self._searched_to = max(self._searched_to, start)
        return self._last >= 0 and self._last >= start - reach


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

    def may_be_in(self, lowered: str) -> bool:
        """Return whether the expression may be found in a text, which is given in small letters."""
        return any(part in lowered for part in self.parts)

    def stand_before(self, text: str, start: int, reach: int) -> bool:
        """Return whether the expression is found in the `reach` characters before the place."""
        before = text[max(0, start - reach) : start]
        return self.may_be_in(before.lower()) and self.expression.search(before) is not None


@dataclass(frozen=True)
class PartsOfWords:
    """The literal parts of many expressions, which one search of a text finds."""

    any_part: re.Pattern[str]
    users: Mapping[str, frozenset[int]]
    """The numbers of the expressions with this part, or with one that may stand in it or begin in it, as *versicherung*
    in *Sozialvers*.
    """

    @classmethod
    def of(cls, parts: Mapping[int, Sequence[str]]) -> "PartsOfWords":
        """Return the parts of the expressions with these numbers."""
        all_parts = sorted({part for some in parts.values() for part in some}, key=len, reverse=True)
        users = {
            part: frozenset(number for number, some in parts.items() if any(_may_begin_in(part, one) for one in some))
            for part in all_parts
        }
        return cls(re.compile(_any_of(all_parts)), users)

    def found_in(self, lowered: str) -> set[int]:
        """Return the numbers of the expressions that may be found in a text in small letters."""
        return {number for part in set(self.any_part.findall(lowered)) for number in self.users[part]}


def _any_of(parts: Sequence[str]) -> str:
    """Return an expression for these parts, those with the same first letter together, so that few are compared."""
    by_letter = defaultdict[str, list[str]](list)
    for part in parts:
        by_letter[part[0]].append(re.escape(part[1:]))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())


def _may_begin_in(part: str, other: str) -> bool:
    """Return whether the other part can begin where this one stands, within it or at its end."""
    ends = range(LEAST_CHARACTERS, min(len(part), len(other)))
    return other in part or any(part.endswith(other[:length]) for length in ends)


def _longest_literal(alternative: str) -> str:
    """Return the longest sequence of characters that everything has which one alternative of an expression finds."""
    literals = LITERALS.findall(NO_LITERALS.sub("\0", alternative))
    return max(literals, key=len, default="").replace("\\", "").lower()
