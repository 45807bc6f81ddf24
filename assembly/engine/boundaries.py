"""Where a text of Markdown may end: before a heading, after a paragraph, a sentence or a line."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assembly.engine.compression import sentences_of
from assembly.engine.outline import Span, outline_of

_BLANK_LINE = re.compile(r"\n\s*\n")
_NEXT = re.compile(r"\s*(\S?)")
_NEAR = 2_000  # characters from the end in which sentences are looked for before all others are read
_CLOSING = 16  # characters at most that close a sentence after its mark


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The ends that a text may have, in characters. All of them come the longest first."""

    text: str
    headings: tuple[Span, ...]
    barred: tuple[Span, ...]
    """Headings and fenced code, in order: within these, and right after them, the text may not end."""

    @classmethod
    def of(cls, text: str) -> "Boundaries":
        """Those of the text."""
        barred = tuple(outline_of(text))
        return cls(text, tuple(span for span in barred if span.is_heading), barred)

    def before_headings(self, first: int, last: int) -> Iterator[int]:
        """The ends from first to last after which a heading follows."""
        return self._allowed((heading.start for heading in reversed(self.headings)), first, last)

    def after_paragraphs(self, first: int, last: int) -> Iterator[int]:
        """The ends from first to last after which a blank line follows."""
        blank = [match.start() for match in _BLANK_LINE.finditer(self.text, first)]
        return self._allowed(reversed(blank), first, last)

    def after_sentences(self, first: int, last: int) -> Iterator[int]:
        """The ends from first to last of sentences and lines, unless it goes on in lower case: after an abbreviation,
        say, or where a sentence is wrapped to the next line."""
        return (end for end in self.after_lines(first, last) if not self._next(end).islower())

    def after_lines(self, first: int, last: int) -> Iterator[int]:
        """The ends from first to last of whatever may be a sentence or a line."""
        near = max(first, last - _NEAR)
        yield from self._allowed(self._sentences(near, len(self.text)), near, last)
        yield from self._allowed(self._sentences(first, near), first, near - 1)

    def _sentences(self, first: int, last: int) -> Iterator[int]:
        start = max(0, first - _CLOSING)
        # The last piece ends where it was taken from the whole, which tells nothing.
        pieces = sentences_of(self.text[start : last + _CLOSING])[:-1]
        return (start + piece.end for piece in reversed(pieces))

    def _allowed(self, ends: Iterable[int], first: int, last: int) -> Iterator[int]:
        """Those of the ends that are within the bounds and allowed, without the white space before them."""
        stripped = map(self._stripped, ends)
        return (end for end in stripped if first <= end <= last and self._allows(end))

    def _allows(self, end: int) -> bool:
        """Whether it can end there: not in code, which would stay open, also where the marker follows its last line;
        not with a heading, under which nothing would stand; not between a character and its accent."""
        place = bisect_left(self.barred, end, key=lambda span: span.start)
        is_open = place > 0 and end <= self.barred[place - 1].end
        return not is_open and not unicodedata.category(self.text[end : end + 1] or " ").startswith("M")

    def _stripped(self, end: int) -> int:
        while end and self.text[end - 1].isspace():
            end -= 1
        return end

    def _next(self, end: int) -> str:
        """The first character after that end which is no white space, "" where there is none."""
        found = _NEXT.match(self.text, end)
        return found[1] if found else ""
