"""The outline of a text of Markdown: its headings, and the fenced code in which nothing is a heading."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_MARKS = frozenset("`~#=-")  # with which the lines begin that matter here
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_TITLE = re.compile(r" {0,3}\S")


class Span(NamedTuple):
    """A heading or a piece of fenced code, from start to end in characters, without the white space after it."""

    start: int
    end: int
    is_heading: bool


def outline_of(text: str) -> Iterator[Span]:
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
            yield Span(opened, end, is_heading=False)
            mark, ended = "", end
        elif fence:
            mark, opened = fence[1], start
        elif (begun := _beginning_of_heading(text, start, line)) is not None and begun > ended:
            yield Span(begun, end, is_heading=True)
            ended = end
    if mark:
        yield Span(opened, len(text), is_heading=False)


def _lines_with_marks(text: str) -> Iterator[tuple[int, str]]:
    """The lines that begin with one of the marks, and where they stand."""
    start = 0
    for line in text.split("\n"):
        if line.lstrip()[:1] in _MARKS:
            yield start, line
        start += len(line) + 1


def _beginning_of_heading(text: str, start: int, line: str) -> int | None:
    """Where the heading begins of which this line is the last; None: it is of none."""
    if _HEADING.match(line):
        return start
    above = text.rfind("\n", 0, max(0, start - 1)) + 1
    before = text.rfind("\n", 0, max(0, above - 1)) + 1
    is_title = start > 0 and _TITLE.match(text, above, start - 1) and not text[before:above].strip()
    return above if is_title and _UNDERLINE.match(line) else None
