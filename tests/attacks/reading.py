"""A reader of contexts that knows nothing but docs/contexts.md: it shares no code with the engine."""

import re
from dataclasses import dataclass, field
from html import unescape

from markdown_it import MarkdownIt

LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
OPENING = re.compile(r"(`{3,}|~{3,})([^`]*)$")
ENTRY = re.compile(r"### (\d{4}-\d\d-\d\d)$")
BULLET = re.compile(r"- \[([^\]]+)\] ")
TURN = re.compile(r"\*\*([^*]+)\*\*: ")
EVENT = re.compile(r"\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] ")
UNSEEN = r"\s\x00\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
CONTAINERS = re.compile(rf"(?:[{UNSEEN}>]|[-*+](?=[{UNSEEN}])|\d+[.)](?=[{UNSEEN}]))*")

HIDING = re.compile(r"<(?:h[1-6]|!--|script|style|textarea|title|pre)\b|<!--", re.IGNORECASE)
BLOCKS = {"hr", "html_block"}

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 100})


@dataclass
class Section:
    """A section as it is read: its label and the lines below it, fences told apart."""

    label: str
    lines: list[str] = field(default_factory=list)
    fenced: list[str] = field(default_factory=list)

    def found(self, lead: re.Pattern[str]) -> list[str]:
        """What the lead captures in each line outside of fences that begins with it."""
        matches = [lead.match(line) for line in self.lines]
        return [match[1] if lead.groups else match[0] for match in matches if match]


def read(content: str) -> list[Section]:
    """The sections of a context: `## Label` at the beginning of a line that no fence holds."""
    sections: list[Section] = []
    fence = ""
    for line in content.split("\n"):
        opening = OPENING.match(line)
        if fence:
            if set(line.rstrip()) == {fence[0]} and len(line.rstrip()) >= len(fence):
                fence = ""
            else:
                sections[-1].fenced.append(line)
        elif opening and sections:
            fence = opening[1]
        elif line.startswith("## "):
            sections.append(Section(line[3:]))
        elif sections:
            sections[-1].lines.append(line)
        elif line:
            raise AssertionError(f"The context begins with {line!r}, which is no section.")
    assert not fence, "A fence is open at the end of the context."
    for section in sections[:-1]:
        assert section.lines.pop() == "", "A section ends without a blank line."
    return sections


OPENING_TAG = re.compile(r'<section name="([^"<>]*)" layer="L[1-7]" source="[a-z_]+"(?: version="[0-9a-z]+")?>')
CLOSING_TAG = "</section>"
ANY_TAG = re.compile(rf"[<\uff1c][{UNSEEN}]*[/\uff0f]?[{UNSEEN}]*section", re.IGNORECASE)


def read_tags(content: str) -> list[Section]:
    """The sections of a context with tags: from a line that is an opening tag to the next line that is the closing one.

    Nothing in between looks like either of them to any reader, wherever it stands in its line.
    """
    sections: list[Section] = []
    inside: list[str] | None = None
    for line in content.split("\n"):
        if inside is None:
            opening = OPENING_TAG.fullmatch(line)
            assert opening or not line, f"{line!r} stands between sections."
            if opening:
                sections.append(Section(unescape(opening[1])))
                inside = []
        elif line == CLOSING_TAG:
            assert not any(ANY_TAG.search(one) for one in inside)
            blank, *lines = inside
            assert blank == ""
            (read_inside,) = read("\n".join(["## x", *lines]))
            sections[-1].lines, sections[-1].fenced = read_inside.lines, read_inside.fenced
            inside = None
        else:
            inside.append(line)
    assert inside is None, "The last section has no end."
    return sections


def headings(content: str) -> list[tuple[int, str, int]]:
    """Level, text and line of all headings that a parser of CommonMark finds, wherever they are; HTML's are level 0."""
    tokens, line = _MARKDOWN.parse(content), 0
    found = []
    for place, token in enumerate(tokens):
        line = token.map[0] if token.map else line
        if token.type == "heading_open":
            found.append((int(token.tag[1]), tokens[place + 1].content, line))
        if token.type == "html_block" or any(child.type == "html_inline" for child in token.children or ()):
            found += [(0, mark, line) for mark in HIDING.findall(token.content)]
    return found


def rules_and_tags(content: str) -> list[tuple[str, int]]:
    """Thematic breaks and blocks of HTML that a parser of CommonMark finds, and their lines."""
    return [(one.type, one.map[0] if one.map else 0) for one in _MARKDOWN.parse(content) if one.type in BLOCKS]


def lines_by_any_reader(section: Section) -> list[str]:
    """The lines outside of fences, split where any reader may split, without quotations and bullets before them."""
    lines = [part for line in section.lines for part in LINE_ENDS.split(line)]
    return [CONTAINERS.sub("", line, count=1) for line in lines]
