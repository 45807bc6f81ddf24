"""Truncation cuts a Markdown text to fit: before a heading, or after a paragraph, a sentence or a line.

The outline tells headings from lines in fenced code. A better place is taken only where it does not cost too much.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from assembly.engine.extraction import sentences_of
from assembly.engine.plain_cut import longest_cut
from assembly.engine.profile import CutAt
from assembly.engine.rendering import RenderedItem
from assembly.engine.token_ledger import TokenLedger

_MARKS = frozenset("`~#=-")  # with which the lines begin that matter here
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_TITLE = re.compile(r" {0,3}\S")


class OutlineSpan(NamedTuple):
    """A heading or a piece of fenced code, from start to end in characters, without the white space after it."""

    start: int
    end: int
    is_heading: bool


def outline_of(text: str) -> Iterator[OutlineSpan]:
    """The headings and the fenced code, in order. Code without a closing line reaches to the end of the text.

    A title that is underlined is a heading where it is one line after a blank one: below several lines, hyphens are
    mostly meant as a rule.
    """
    mark, opened, ended = "", 0, -1
    for start, line in _lines_with_marks(text):
        end = start + len(line.rstrip())
        fence = _FENCE.match(line)
        if mark and not (fence and fence[1].startswith(mark) and not fence[2].strip()):
            continue
        if mark:
            yield OutlineSpan(opened, end, is_heading=False)
            mark, ended = "", end
        elif fence:
            mark, opened = fence[1], start
        elif (begun := _heading_start(text, start, line)) is not None and begun > ended:
            yield OutlineSpan(begun, end, is_heading=True)
            ended = end
    if mark:
        yield OutlineSpan(opened, len(text), is_heading=False)


def _lines_with_marks(text: str) -> Iterator[tuple[int, str]]:
    """The lines that begin with one of the marks, and where they stand."""
    start = 0
    for line in text.split("\n"):
        if line.lstrip()[:1] in _MARKS:
            yield start, line
        start += len(line) + 1


def _heading_start(text: str, start: int, line: str) -> int | None:
    """Where the heading begins of which this line is the last; None: it is of none."""
    if _HEADING.match(line):
        return start
    above = text.rfind("\n", 0, max(0, start - 1)) + 1
    before = text.rfind("\n", 0, max(0, above - 1)) + 1
    is_title = start > 0 and _TITLE.match(text, above, start - 1) and not text[before:above].strip()
    return above if is_title and _UNDERLINE.match(line) else None


_BLANK_LINE = re.compile(r"\n\s*\n")
_NEXT_CHARACTER = re.compile(r"\s*(\S?)")
_NEAR = 2_000  # characters from the end in which sentences are looked for before all others are read
_CLOSING = 16  # characters at most that close a sentence after its mark


@dataclass(frozen=True, slots=True)
class TextBoundaries:
    """The ends that a text may have, in characters. All of them come the longest first."""

    text: str
    headings: tuple[OutlineSpan, ...]
    forbidden_spans: tuple[OutlineSpan, ...]
    """Headings and fenced code, in order: within these, and right after them, the text may not end."""

    @classmethod
    def of(cls, text: str) -> "TextBoundaries":
        """Those of the text."""
        forbidden_spans = tuple(outline_of(text))
        return cls(text, tuple(span for span in forbidden_spans if span.is_heading), forbidden_spans)

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
        place = bisect_left(self.forbidden_spans, end, key=lambda span: span.start)
        is_open = place > 0 and end <= self.forbidden_spans[place - 1].end
        return not is_open and not unicodedata.category(self.text[end : end + 1] or " ").startswith("M")

    def _stripped(self, end: int) -> int:
        while end and self.text[end - 1].isspace():
            end -= 1
        return end

    def _next(self, end: int) -> str:
        """The first character after that end which is no white space, "" where there is none."""
        found = _NEXT_CHARACTER.match(self.text, end)
        return found[1] if found else ""


_LOOK_AHEAD = 1_000  # characters after the plain cut that tell whether something ends with it
_BOUNDARIES = ("heading", "paragraph", "sentence")


def cut_to_fit(rendered: RenderedItem, ledger: TokenLedger, limit: int, at: CutAt) -> tuple[int, TokenLedger] | None:
    """The longest prefix of the item's body that ends at such a boundary and fits with its marker: its length, and the
    ledger that ends in it. None when not one character fits.

    Where that would keep less than half of the characters of the plain cut, the next finer boundary is tried: headings,
    paragraphs, sentences, lines, and in the end the plain cut. Every length is proved by a real count.
    """
    body = rendered.body
    plain = longest_cut(body, ledger, limit, ending=rendered.ending, can_end=rendered.can_end)
    if plain is None or at == "anywhere":
        return plain
    last, _ = plain
    first = (last + 1) // 2
    boundaries = TextBoundaries.of(body[: last + _LOOK_AHEAD])
    prefix_ledger = ledger.append(body[:first])
    ways = (boundaries.before_headings, boundaries.after_paragraphs, boundaries.after_sentences, boundaries.after_lines)
    for ends in ways[_BOUNDARIES.index(at) :]:
        for end in ends(first, last):
            grown = prefix_ledger.append(body[first:end] + rendered.ending(end))
            if grown.tokens <= limit and rendered.can_end(end):
                return end, grown
    return plain
