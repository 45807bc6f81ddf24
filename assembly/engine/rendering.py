"""The exact text: headings, separators, items, and the marker of a cut.

Texts, entries and lines as in the seed "Siestai: Context Assembly", the rest as in the seed "Context Assembly
Specification", with the fine print of the design where they leave room.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from assembly.engine.profile import Section, Shape
from assembly.engine.types import Candidate
from config.tokens import Tokenizer

MARKER = " ... [truncated]"
SECTION_SEPARATOR = "\n\n"
ITEM_SEPARATORS: Mapping[Shape, str] = {
    "text": "",
    "entries": "\n\n",
    "lines": "\n",
    "blocks": "\n\n",
    "sequence": "\n\n",
    "turns": "\n\n",
}
AFTER_HEADING: Mapping[Shape, str] = {
    "text": "\n",
    "entries": "\n",
    "lines": "\n",
    "blocks": "\n\n",
    "sequence": "\n\n",
    "turns": "\n\n",
}

_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Rendered:
    """An item as it stands in the context. A cut shortens the body, never the lead."""

    lead: str
    body: str = field(repr=False)

    @property
    def text(self) -> str:
        """The whole item."""
        return self.lead + self.body


def render(section: Section, candidate: Candidate) -> Rendered:
    """The candidate in the format of its section, without trailing white space."""
    known: Rendered | None = candidate.worked_out.get(section.shape)
    if known is None:
        known = candidate.worked_out[section.shape] = _rendered(section.shape, candidate)
    return known


def _rendered(shape: Shape, candidate: Candidate) -> Rendered:
    body = candidate.text.rstrip()
    if shape == "entries":
        return Rendered(f"### {candidate.date}\n", body)
    if shape == "lines":
        return Rendered(f"- [{_one_line(candidate.kind)}] " if candidate.kind else "- ", _one_line(body))
    if shape == "turns":
        return Rendered(f"**{_one_line(candidate.kind)}**: ", body)
    return Rendered("", body)


def tokens_of(tokenizer: Tokenizer, rendered: Rendered) -> int:
    """Tokens of the whole item. Of a body that begins a line, the count is its own, which may be known from before."""
    lead, body = rendered.lead, rendered.body
    begins_line = lead.endswith("\n") and body and not body[0].isspace() and body[0] != "/"
    if begins_line and tokenizer.additive_at_line_starts:
        return tokenizer.count(lead) + tokenizer.count(body)
    return tokenizer.count(rendered.text)


def opening(section: Section, *, first_section: bool, first_item: bool) -> str:
    """What stands between the text so far and the section's next item."""
    if not first_item:
        return ITEM_SEPARATORS[section.shape]
    return ("" if first_section else SECTION_SEPARATOR) + heading(section)


def heading(section: Section) -> str:
    """The heading of the section with what stands between it and the first item."""
    return f"## {section.label}{AFTER_HEADING[section.shape]}"


def paragraphs(body: str, kept: int) -> tuple[int, int]:
    """How many paragraphs stand whole in the first `kept` characters, and how many there are.

    Paragraphs are separated by blank lines.
    """
    breaks = [match.start() for match in _BLANK_LINE.finditer(body.rstrip())]
    ends = [end for end in breaks if body[:end].strip()] + [len(body.rstrip())]
    return sum(end <= kept for end in ends), len(ends)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())
