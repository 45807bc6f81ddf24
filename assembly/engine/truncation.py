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
    """A heading or a piece of fenced code, from start to end in characters, without trailing white space."""

    start: int
    end: int
    is_heading: bool


def outline_of(text: str) -> Iterator[OutlineSpan]:
    """Yield the headings and the fenced code, in order. Code without a closing line extends to the end of the text.

    An underlined title counts as a heading if it is one line after a blank line: below several lines, hyphens are
    usually meant as a rule.
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
    """Yield the position and text of each line that begins with one of the marks of headings and fences."""
    start = 0
    for line in text.split("\n"):
        if line.lstrip()[:1] in _MARKS:
            yield start, line
        start += len(line) + 1


def _heading_start(text: str, start: int, line: str) -> int | None:
    """Return the start of the heading whose last line this is; None if the line ends no heading."""
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
    """The positions, in characters, where a text may be cut; each method yields the longest prefix first."""

    text: str
    headings: tuple[OutlineSpan, ...]
    forbidden_spans: tuple[OutlineSpan, ...]
    """Headings and fenced code, in order; the text may not be cut within one or right after one."""

    @classmethod
    def of(cls, text: str) -> "TextBoundaries":
        """Return the boundaries of the text."""
        forbidden_spans = tuple(outline_of(text))
        return cls(text, tuple(span for span in forbidden_spans if span.is_heading), forbidden_spans)

    def before_headings(self, first: int, last: int) -> Iterator[int]:
        """Yield the positions from first to last that precede a heading."""
        return self._allowed((heading.start for heading in reversed(self.headings)), first, last)

    def after_paragraphs(self, first: int, last: int) -> Iterator[int]:
        """Yield the positions from first to last that precede a blank line."""
        blank = [match.start() for match in _BLANK_LINE.finditer(self.text, first)]
        return self._allowed(reversed(blank), first, last)

    def after_sentences(self, first: int, last: int) -> Iterator[int]:
        """Yield the ends of sentences and lines from first to last, unless the text continues in lower case.

        Lower case follows, for example, an abbreviation, or a sentence that is wrapped to the next line.
        """
        return (end for end in self.after_lines(first, last) if not self._next(end).islower())

    def after_lines(self, first: int, last: int) -> Iterator[int]:
        """Yield all ends of lines and possible sentences from first to last."""
        near = max(first, last - _NEAR)
        yield from self._allowed(self._sentences(near, len(self.text)), near, last)
        yield from self._allowed(self._sentences(first, near), first, near - 1)

    def _sentences(self, first: int, last: int) -> Iterator[int]:
        start = max(0, first - _CLOSING)
        # The last piece ends at the end of the window, which need not be the end of a sentence.
        pieces = sentences_of(self.text[start : last + _CLOSING])[:-1]
        return (start + piece.end for piece in reversed(pieces))

    def _allowed(self, ends: Iterable[int], first: int, last: int) -> Iterator[int]:
        """Yield those of the ends that are within the bounds and allowed, each moved before trailing white space."""
        stripped = map(self._stripped, ends)
        return (end for end in stripped if first <= end <= last and self._allows(end))

    def _allows(self, end: int) -> bool:
        """Return whether the text may be cut there.

        A cut is not allowed in or right after code, which would stay open; right after a heading, which would be empty;
        and between a character and its accent.
        """
        place = bisect_left(self.forbidden_spans, end, key=lambda span: span.start)
        is_open = place > 0 and end <= self.forbidden_spans[place - 1].end
        return not is_open and not unicodedata.category(self.text[end : end + 1] or " ").startswith("M")

    def _stripped(self, end: int) -> int:
        while end and self.text[end - 1].isspace():
            end -= 1
        return end

    def _next(self, end: int) -> str:
        """Return the first character after that end which is not white space; "" if there is none."""
        found = _NEXT_CHARACTER.match(self.text, end)
        return found[1] if found else ""


_LOOK_AHEAD = 1_000  # characters after the plain cut that tell whether something ends with it
_BOUNDARIES = ("heading", "paragraph", "sentence")


def cut_to_fit(rendered: RenderedItem, ledger: TokenLedger, limit: int, at: CutAt) -> tuple[int, TokenLedger] | None:
    """Return the length of the longest prefix of the body that fits and ends at the wanted boundary, and its ledger.

    Returns None if not one character fits. If the prefix would have less than half of the characters of the plain cut,
    the next finer boundary is tried: headings, paragraphs, sentences, lines, and in the end the plain cut. Every length
    is checked by an exact count.
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
