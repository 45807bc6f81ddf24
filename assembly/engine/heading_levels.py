r"""Headings in the files of owners are shifted to levels below the heading of their section.

The levels keep their order: the highest heading of a file becomes `###`, and nothing goes below `######`. Underlined
titles become such headings, too. An owner's text is trusted, so roles, rules and lists stay as they are. Only text that
would hide the next section is escaped: a fence that nothing closes, and HTML that hides the following text. Shifting a
text twice gives the same result as shifting it once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from assembly.engine.escaping import LINE_ENDS, PREFIX, Edit, EditedText, section_tag_edits
from assembly.engine.fences import Fence, fences_of, is_fenced

HIGHEST, LOWEST = 3, 6
"""The highest and lowest levels that headings of a file may have in a context."""

_MAYBE_HEADING = re.compile(rf"[#<=]|[{LINE_ENDS}][ \t>]*(?:-|~~~|```)")
_ATX = re.compile(rf"(?:[{LINE_ENDS}]|\A){PREFIX}(?P<mark>#{{1,6}})(?=[\s\x00]|\Z)")
_UNDERLINE = re.compile(rf"[{LINE_ENDS}][ \t>]*(?P<mark>=+|-+)(?=[ \t]*(?:[{LINE_ENDS}]|\Z))")
_FENCE_LINE = re.compile(rf"(?:[{LINE_ENDS}]|\A){PREFIX}(?P<mark>`{{3,}}|~{{3,}})")
_HTML_HEADING = re.compile(r"</?[hH](?P<level>[1-6])\b")
_TITLE = re.compile(
    r" {0,3}(?![ \t>#|<`~]|[-*+](?:[ \t]|\Z)|[-=*_ \t]+\Z|[0-9]{1,9}[.)](?:[ \t]|\Z))"
    r"[^\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\Z"
)
_HEADING_LINE = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_HIDING_HTML = re.compile(r"<(?P<kind>!--|\?|!\[CDATA\[|![A-Za-z]|(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_CLOSED_BY = {"!--": "-->", "?": "?>", "![cdata[": "]]>"}
_LINE_END = re.compile(rf"[{LINE_ENDS}]|\Z")
_HTML_LINE = re.compile(rf"(?:[{LINE_ENDS}]|\A){PREFIX}(?P<mark><)(?=[A-Za-z/])")
_BLANK_LINE = re.compile(r"\n[ \t>]*(?=\n|\Z)")


class _Heading(NamedTuple):
    """A heading of a file: its level, and the start and end of the characters that are replaced to shift it."""

    level: int
    start: int
    end: int
    title: tuple[int, int] | None = None
    """Start and end of an underlined title; None for other headings. The heading itself ends with the underline."""


def shift_headings(text: str, *, begins_line: bool = True, has_tags: bool = False) -> EditedText:
    """Return the text of an owner's file as a context shows it in a section; `has_tags`: sections are tags."""
    if not begins_line or not (_MAYBE_HEADING.search(text) or text.startswith(("```", "~~~"))):
        return EditedText(text)
    fences = fences_of(text, indented=True)
    headings = list(_headings(text, fences))
    shift = max(0, HIGHEST - min((heading.level for heading in headings), default=HIGHEST))
    edits = [_heading_edit(text, heading, shift) for heading in headings if shift or heading.title]
    edits += [*_rule_line_edits(text, fences, edits), *_escape_edits(text, fences)]
    return EditedText.of(text, fences, [*edits, *section_tag_edits(text)] if has_tags else edits)


def _headings(text: str, fences: list[Fence]) -> Iterator[_Heading]:
    for found in _ATX.finditer(text):
        if not is_fenced(fences, found.start("mark")):
            yield _Heading(len(found["mark"]), *found.span("mark"))
    for found in _UNDERLINE.finditer(text):
        if not is_fenced(fences, found.start("mark")) and (title := _title_above(text, found, fences)):
            yield _Heading(1 if found["mark"][0] == "=" else 2, title[0], found.end("mark"), title)
    for found in _HTML_HEADING.finditer(text):
        if not is_fenced(fences, found.start()):
            yield _Heading(int(found["level"]), *found.span("level"))


def _title_above(text: str, underline: re.Match[str], fences: list[Fence]) -> tuple[int, int] | None:
    """Return start and end of an underlined title; None if the text above is several lines, a list or a quotation."""
    if text[underline.start()] != "\n" or text[underline.start() + 1 : underline.start("mark")].strip(" "):
        return None
    start = text.rfind("\n", 0, underline.start()) + 1
    line = text[start : underline.start()].rstrip(" \t\r")
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
    is_one_line = not above.strip() or _HEADING_LINE.match(above) or is_fenced(fences, start - 2)
    if not line or not is_one_line or not _TITLE.match(line) or is_fenced(fences, start):
        return None
    return start, start + len(line)


def _heading_edit(text: str, heading: _Heading, shift: int) -> Edit:
    level = min(LOWEST, heading.level + shift)
    if heading.title:
        title = text[heading.title[0] : heading.title[1]].lstrip()
        return Edit(heading.start, heading.end, f"{'#' * level} {title}")
    return Edit(heading.start, heading.end, "#" * level if text[heading.start] == "#" else str(level))


def _rule_line_edits(text: str, fences: list[Fence], titles: list[Edit]) -> Iterator[Edit]:
    """Yield edits of rules that Markdown would read as underlines of the text above.

    Three or more hyphens become asterisks; all others are escaped.
    """
    ends = {edit.end for edit in titles}
    for found in _UNDERLINE.finditer(text):
        start, end = found.span("mark")
        above = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if end in ends or is_fenced(fences, start) or not above.strip(" \t>"):
            continue
        if found["mark"][0] == "-" and end - start > 2:  # noqa: PLR2004 - a rule has three
            yield Edit(start, end, "*" * (end - start))
        else:
            yield Edit(start, start, "\\")


def _escape_edits(text: str, fences: list[Fence]) -> Iterator[Edit]:
    """Yield edits that escape fences without an end, and HTML that would hide the following text."""
    if "```" in text or "~~~" in text:
        for found in _FENCE_LINE.finditer(text):
            if not is_fenced(fences, found.start("mark")):
                yield Edit(found.start("mark"), found.start("mark"), "\\")
    if "<" in text:
        for place in (*_unclosed_html(text), *_fence_swallowing_html(text, fences)):
            if not is_fenced(fences, place):
                yield Edit(place + 1, place + 1, "\\")


def _unclosed_html(text: str) -> Iterator[int]:
    """Yield the positions of HTML that hides the following text and does not end on its own line."""
    line_end, last = -1, dict[str, int]()
    for found in _HIDING_HTML.finditer(text):
        if found.start() > line_end:
            ended = _LINE_END.search(text, found.start())
            line_end, last = (ended.start() if ended else len(text)), {}
        kind = found["kind"].lower()
        closing = _CLOSED_BY.get(kind) or (">" if kind[0] == "!" else f"</{kind}>")
        if closing not in last:
            last[closing] = text[found.start() : line_end].lower().rfind(closing) + found.start()
        if last[closing] <= found.start():
            yield found.start()


def _fence_swallowing_html(text: str, fences: list[Fence]) -> Iterator[int]:
    """Yield the positions of HTML that lasts until the next blank line and would swallow fenced code before it."""
    if not fences:
        return
    starts, blanks = [fence.start for fence in fences], [found.start() for found in _BLANK_LINE.finditer(text)]
    for found in _HTML_LINE.finditer(text):
        place = found.start("mark")
        fence, blank = bisect_right(starts, place), bisect_right(blanks, place)
        if fence < len(starts) and (blank == len(blanks) or starts[fence] < blanks[blank]):
            yield place
