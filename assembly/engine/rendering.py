"""Rendering writes the exact text of a context: headings, separators, items, and the marker of a cut.

Every text of a context passes through `render_item`, so that no source can omit the escaping of untrusted text.

Texts, entries and lines follow the seed "Siestai: Context Assembly", the other shapes the seed "Context Assembly
Specification"; details that the seeds leave open are decisions of this project.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from assembly.engine.escaping import LINE_ENDS, EditedText, escape_text
from assembly.engine.heading_levels import shift_headings
from assembly.engine.profile import Section, Shape, TextTreatment
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Candidate

TRUNCATION_MARKER = " ... [truncated]"
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
_LINE_END = re.compile(rf"[{LINE_ENDS}]")
_NEAR = 2_000  # characters before the end in which the beginning of the last line is looked for first
_MAX_CACHED_CHARACTERS = 16_000  # largest size in bytes of a text whose edited form is cached
_MARK_REMOVAL = str.maketrans({"[": "(", "]": ")", "*": None, "`": None, "<": None})


@dataclass(frozen=True, slots=True)
class RenderedItem:
    """An item as it appears in the context. A cut shortens the body, never the lead."""

    lead: str
    edited: EditedText
    treatment: TextTreatment = "seen"

    @property
    def body(self) -> str:
        """The item's text without the lead, as the context shows it."""
        return self.edited.text

    @property
    def text(self) -> str:
        """The whole item: lead and body."""
        return self.lead + self.body

    def ending(self, length: int) -> str:
        """Return the text after a cut at `length` characters of the body: the marker, and the end of an open fence."""
        fence = self.edited.open_fence_at(length)
        return TRUNCATION_MARKER if fence is None else f"{TRUNCATION_MARKER}\n{fence.closing}"

    def can_end(self, length: int) -> bool:
        """Return whether the body may be cut at this length: the marker must not turn the last line into structure."""
        if self.treatment == "as_written" or self.edited.open_fence_at(length):
            return True
        start = max(
            (found.end() for found in _LINE_END.finditer(self.body, max(0, length - _NEAR), length)), default=-1
        )
        if start < 0:
            start = max((found.end() for found in _LINE_END.finditer(self.body, 0, length)), default=0)
        line = self.body[start:length] + TRUNCATION_MARKER
        begins_line = start > 0 or _begins_line(self.lead)
        return _edited_text(line, self.treatment, begins_line=begins_line).text == line


def render_item(section: Section, candidate: Candidate) -> RenderedItem:
    """Return the candidate in the format of its section, without trailing white space; cached in the candidate."""
    form = section.shape, section.treatment
    known: RenderedItem | None = candidate.memo.get(form)
    if known is None:
        known = candidate.memo[form] = _render_item(section, candidate)
    return known


def _render_item(section: Section, candidate: Candidate) -> RenderedItem:
    body, shape, treatment = candidate.text.rstrip(), section.shape, section.treatment
    lead = _lead(section, candidate)
    if shape == "lines":
        body = _one_line(body)
        if not candidate.kind and treatment == "seen" and body.startswith("["):
            lead += "\\"  # otherwise the body would look like the label of a kind
    return RenderedItem(lead, _edited_text(body, treatment, begins_line=_begins_line(lead)), treatment)


def _lead(section: Section, candidate: Candidate) -> str:
    shape, kind = section.shape, _one_line(candidate.kind)
    if section.treatment != "as_written":
        kind = kind.translate(_MARK_REMOVAL)
    if shape == "entries":
        return f"### {candidate.date}\n"
    if shape == "lines":
        return f"- [{kind}] " if candidate.kind else "- "
    return f"**{kind}**: " if shape == "turns" else ""


def _edited_text(text: str, treatment: TextTreatment, *, begins_line: bool) -> EditedText:
    if treatment == "as_written":
        return EditedText(text)
    edited = _cached_edited_text if sys.getsizeof(text) <= _MAX_CACHED_CHARACTERS else _compute_edited_text
    return edited(text, treatment, begins_line)


def _compute_edited_text(text: str, treatment: TextTreatment, begins_line: bool) -> EditedText:
    if treatment == "owners_file":
        return shift_headings(text)
    return escape_text(text, begins_line=begins_line, is_turn=treatment == "said")


# Successive contexts consist of much the same texts: without this cache, an assembly of 16,000 tokens takes 2 ms more.
_cached_edited_text = lru_cache(512)(_compute_edited_text)


def _begins_line(lead: str) -> bool:
    """Return whether the text after the lead begins a line; text after a bullet does, as it can be a heading."""
    return not lead or lead.endswith("\n") or lead == "- "


def count_item_tokens(tokenizer: Tokenizer, rendered: RenderedItem) -> int:
    """Return the tokens of the whole item; if possible, lead and body are counted separately, to use cached counts."""
    lead, body = rendered.lead, rendered.body
    begins_line = lead.endswith("\n") and body and not body[0].isspace() and body[0] != "/"
    if begins_line and tokenizer.additive_at_line_starts:
        return tokenizer.count(lead) + tokenizer.count(body)
    return tokenizer.count(rendered.text)


def separator_before(section: Section, *, first_section: bool, first_item: bool) -> str:
    """Return the text between the text so far and the section's next item, with the heading for the first item."""
    if not first_item:
        return ITEM_SEPARATORS[section.shape]
    return ("" if first_section else SECTION_SEPARATOR) + heading_text(section)


def heading_text(section: Section) -> str:
    """Return the heading of the section with the white space between it and the first item."""
    label = section.label if section.treatment == "as_written" else _one_line(section.label)
    return f"## {label}{AFTER_HEADING[section.shape]}"


def count_paragraphs(body: str, kept: int) -> tuple[int, int]:
    """Return how many paragraphs are whole in the first `kept` characters, and how many paragraphs the body has.

    Paragraphs are separated by blank lines.
    """
    breaks = [match.start() for match in _BLANK_LINE.finditer(body.rstrip())]
    ends = [end for end in breaks if body[:end].strip()] + [len(body.rstrip())]
    return sum(end <= kept for end in ends), len(ends)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())
