"""Escaping prevents untrusted text from passing for a part of the context's own structure.

All text except that of owners' files is escaped when it is put into a context. docs/contexts.md publishes the rules,
and tests/attacks tries them. A line that would begin with a heading, a rule, a fence, a tag, a role or the lead of an
entry gets a backslash before that mark; so does a mark that is dangerous anywhere. Everything else stays byte for byte,
as does fenced code that closes itself. Escaping twice changes nothing, so an escaped text may be shortened and escaped
again. Edits never change a line that opens or closes fenced code, and positions can be mapped back to the original.

In a context whose sections are tags, every mark that could begin or end a section becomes `&lt;`, inside code, too. A
quoted text has a mark at the beginning of each of its lines, whatever the line holds: it ends where the marks end.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from assembly.engine.fences import Fence, fences_of, unfenced


class Edit(NamedTuple):
    """A replacement of the characters from start to end, counted in the original text."""

    start: int
    end: int
    text: str


class EditedText(Struct, frozen=True):
    """A text as a context shows it, with the edits that were made to it."""

    text: str
    fences: Sequence[Fence] = ()
    """Fenced code in the text, in order, counted in characters of the edited text."""
    edits: Sequence[Edit] = ()
    """Edits that were made, in order; they do not overlap."""

    @classmethod
    def of(cls, original: str, fences: Sequence[Fence], edits: Iterable[Edit]) -> "EditedText":
        """Return the original text with the edits, given in any order; where edits overlap, only the first is made."""
        made: list[Edit] = []
        for edit in sorted(edits):
            if not made or (edit.start >= made[-1].end and edit[:2] != made[-1][:2]):
                made.append(edit)
        if not made:
            return cls(original, fences)
        pieces, at = [], 0
        for edit in made:
            pieces += [original[at : edit.start], edit.text]
            at = edit.end
        pieces.append(original[at:])
        return cls("".join(pieces), list(_shifted_fences(fences, made)), made)

    def original_length(self, length: int) -> int:
        """Return how many characters of the original text the first `length` characters of the edited text show."""
        grown = 0
        for edit in self.edits:
            if edit.start + grown >= length:
                break
            if edit.start + grown + len(edit.text) > length:
                return edit.start
            grown += len(edit.text) - (edit.end - edit.start)
        return length - grown

    def open_fence_at(self, length: int) -> Fence | None:
        """Return the fenced code that the first `length` characters leave open; None if they end outside of any."""
        place = bisect_right(self.fences, length, key=lambda fence: fence.opened) - 1
        return self.fences[place] if place >= 0 and length <= self.fences[place].end else None


def _shifted_fences(fences: Iterable[Fence], edits: Sequence[Edit]) -> Iterator[Fence]:
    """Yield the fences at their positions in the edited text."""
    ends = [edit.end for edit in edits]
    grown = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in edits)]
    for fence in fences:
        before, within = (grown[bisect_right(ends, place)] for place in (fence.start, fence.end))
        yield fence.moved(before, within)


LINE_ENDS = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
"""All characters that some reader takes for the end of a line, for use in a character class of a regular expression."""
BLANK = (
    " \t\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""White space and invisible characters, for use in a character class of a regular expression."""

_BULLET = "[-*+\u2022\u2023\u25e6\u2043]"
_LABELLED = rf"\[(?![ xX]\])(?=[^\]{LINE_ENDS}]{{1,80}}\](?![(\[:]))"
PREFIX = rf"(?:[{BLANK}>]|{_BULLET}(?=[{BLANK}])(?![{BLANK}]+{_LABELLED})|[0-9]{{1,9}}[.)](?=[{BLANK}]))*+"
"""A regular expression of the characters that may precede a mark which still begins its line: white space, quotation
marks of Markdown, bullets and numbers.
"""

_SPEAKERS = "user|assistant|system|human|ai"
_ROLES = rf"{_SPEAKERS}|developer|tool|function|model|bot"
_TIMESTAMP = r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\]"
_AT_LINE_STARTS = "|".join(
    [
        r"[#\uff03\ufe5f](?![a-z0-9!])",  # a heading; #!/bin/sh, #include and #12 are none
        rf"(?:[-*_=~\u2010-\u2015\u2212\u2500\u2501\u2550][{BLANK}]*)++(?=[{LINE_ENDS}]|\Z)",  # a rule, an underline
        r"`{3,}|~{3,}",
        r"[<\uff1c](?!https?://|mailto:)(?=[A-Za-z/!?|\uff5c])",
        rf"(?i:[*_]{{1,8}}(?:{_ROLES})[*_]{{0,8}}[{BLANK}]*[:\uff1a])",
        rf"(?i:[*_\"'`\[(]{{0,8}}(?:{_SPEAKERS})[*_\"'`\])]{{0,8}}[{BLANK}]*[:\uff1a])",
        rf"{_BULLET}[{BLANK}]+{_LABELLED}",  # a memory
    ]
)
_AFTER_FIRST_LINE = rf"{_TIMESTAMP}"
_IN_TURNS = rf"\*\*[^*{LINE_ENDS}]{{1,40}}\*\*[{BLANK}]*[:\uff1a]"

_LINE = re.compile(rf"[{LINE_ENDS}]{PREFIX}(?P<mark>{_AT_LINE_STARTS}|{_AFTER_FIRST_LINE})")
_LINE_OF_TURN = re.compile(rf"[{LINE_ENDS}]{PREFIX}(?P<mark>{_AT_LINE_STARTS}|{_AFTER_FIRST_LINE}|{_IN_TURNS})")
_FIRST_LINE = re.compile(rf"{PREFIX}(?P<mark>{_AT_LINE_STARTS})")

_CONTROL_TOKEN = re.compile(r"<(?=[|\uff5c][^|\uff5c<>\s]{1,60}[|\uff5c]>)|\[(?=/?INST\])|<(?=</?SYS>>)")
_HIDING_HTML = re.compile(
    r"<(?=!--|/?(?:h[1-6]|script|style|pre|textarea|title|template|noscript|iframe|xmp|plaintext|noembed|noframes|details|"
    r"s|bos|eos|start_of_turn|end_of_turn|think|system|user|assistant|human|instructions?)\b)",
    re.IGNORECASE,
)


_SECTION_TAG = re.compile(rf"[<\uff1c](?=[{BLANK}]*[/\uff0f]?[{BLANK}]*section)", re.IGNORECASE)
_LINE_BREAK = re.compile(rf"\r\n|[{LINE_ENDS}]")


def escape_text(
    text: str, *, begins_line: bool = True, is_turn: bool = False, has_tags: bool = False, quote: str = ""
) -> EditedText:
    """Return the text with every mark escaped that could pass for structure.

    `begins_line` says whether the text begins a line of the context. In a turn of a conversation (`is_turn`), no line
    may begin like another turn, whatever its role. `has_tags` says whether the context's sections are tags. `quote` is
    the mark of a quoted text; code in it needs no closing line, because it ends with the quotation.
    """
    fences = [] if quote else fences_of(text, begins_line=begins_line)
    edits = [*_edits(text, fences, begins_line=begins_line, is_turn=is_turn)]
    if has_tags:
        edits += section_tag_edits(text)
    if quote:
        edits = _with_quote_marks(text, edits, quote)
    return EditedText.of(text, fences, edits)


def section_tag_edits(text: str) -> Iterator[Edit]:
    """Yield edits that replace the first character of everything that could begin or end a section."""
    for found in _SECTION_TAG.finditer(text):
        yield Edit(found.start(), found.end(), "&lt;")


def _with_quote_marks(text: str, edits: Iterable[Edit], quote: str) -> list[Edit]:
    """Return the edits with a mark at the beginning of each line; what an edit inserts there follows the mark."""
    starts = {0, *(found.end() for found in _LINE_BREAK.finditer(text))}
    inserted = {edit.start: edit for edit in edits if edit.start == edit.end}
    others = [edit for edit in edits if edit.start != edit.end or edit.start not in starts]
    marks = [Edit(place, place, quote + (inserted[place].text if place in inserted else "")) for place in starts]
    return [*others, *marks]


def _edits(text: str, fences: list[Fence], *, begins_line: bool, is_turn: bool) -> Iterator[Edit]:
    begins_with_fence = bool(fences) and fences[0].start == 0
    if begins_line and not begins_with_fence and (first := _FIRST_LINE.match(text)):
        yield _backslash_at(text, first.start("mark"))
    line = _LINE_OF_TURN if is_turn else _LINE
    for start, end in unfenced(text, fences):
        for found in line.finditer(text, start, end):
            yield _backslash_at(text, found.start("mark"))
        for found in _HIDING_HTML.finditer(text, start, end):
            yield _backslash_after(found.start())
    for found in _CONTROL_TOKEN.finditer(text):
        yield _backslash_after(found.start())


def _backslash_at(text: str, place: int) -> Edit:
    """Return the edit that inserts a backslash before the mark; in a tag, after its bracket, which makes it no tag."""
    return _backslash_after(place) if text[place] in "<\uff1c" else Edit(place, place, "\\")


def _backslash_after(place: int) -> Edit:
    return Edit(place + 1, place + 1, "\\")
