"""Rendering writes the exact text of a context: headings or tags, separators, items, and the mark of a cut.

Every text of a context passes through `render_item`, so that no source can omit the escaping of untrusted text.

Texts, entries and lines follow the seed "Siestai: Context Assembly", the other shapes the seed "Context Assembly
Specification"; details that the seeds leave open are decisions of this project.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape

from msgspec import Struct

from assembly.engine.escaping import LINE_ENDS, EditedText, escape_text
from assembly.engine.heading_levels import shift_headings
from assembly.engine.profile import Delimiter, Section, Shape, TextTreatment
from assembly.engine.refs import Ref
from assembly.engine.tokenizers import Tokenizer
from assembly.engine.types import Candidate, Origin

TRUNCATION_MARKER = " ... [truncated]"
SOURCE_MARK_BEGINNING = " [cut: "
SECTION_SEPARATOR = "\n\n"
ITEM_SEPARATORS: Mapping[Shape, str] = {
    "text": "",
    "entries": "\n\n",
    "lines": "\n",
    "blocks": "\n\n",
    "sequence": "\n\n",
    "turns": "\n\n",
    "note": "",
}
AFTER_HEADING: Mapping[Shape, str] = {
    "text": "\n",
    "entries": "\n",
    "lines": "\n",
    "blocks": "\n\n",
    "sequence": "\n\n",
    "turns": "\n\n",
    "note": "",
}
CLOSING_TAG = "\n</section>"
QUOTED_ORIGINS: frozenset[Origin | None] = frozenset({"tool", "external"})
"""Origins of texts that are quoted: each of their lines begins with a mark, so that they cannot end their quotation."""
QUOTE = "> "
MAX_NAME_CHARACTERS = 80

_BLANK_LINE = re.compile(r"\n\s*\n")
_LINE_END = re.compile(rf"[{LINE_ENDS}]")
_NEAR = 2_000  # characters before the end in which the beginning of the last line is looked for first
_MAX_CACHED_CHARACTERS = 16_000  # largest size in bytes of a text whose edited form is cached
_MAX_CACHED_TEXTS = 512
_EDITED_TEXT_BYTES = 2 * _MAX_CACHED_CHARACTERS  # the text and its edited form
_MARK_REMOVAL = str.maketrans({"[": "(", "]": ")", "*": None, "`": None, "<": None})
_TAG_MARK_REMOVAL = {**_MARK_REMOVAL, 0xFF1C: None}  # the wide <


class RenderedItem(Struct, frozen=True):
    """An item as it appears in the context. A cut shortens the body, never the lead."""

    lead: str
    edited: EditedText
    treatment: TextTreatment = "seen"
    delimit: Delimiter = "headings"
    whole: tuple[str, str, str] | None = None
    """The ref, the path and the day of the whole text for the mark of a cut; None for the seed's mark."""
    is_private: bool = False
    """Whether nothing of the text may be cached for later requests."""

    @property
    def body(self) -> str:
        """The item's text without the lead, as the context shows it."""
        return self.edited.text

    @property
    def text(self) -> str:
        """The whole item: lead and body."""
        return self.lead + self.body

    def ending(self, length: int) -> str:
        """Return the text after a cut at `length` characters of the body: the mark, and the end of an open fence."""
        mark, fence = self._mark(length), self.edited.open_fence_at(length)
        return mark if fence is None else f"{mark}\n{fence.closing}"

    def _mark(self, length: int) -> str:
        if not self.whole:
            return TRUNCATION_MARKER
        name = _cut_name(*self.whole)
        whole, total = self.count_paragraphs(length)
        if not whole:
            return f"{SOURCE_MARK_BEGINNING}{length:,} of {len(self.body):,} characters, {name}]"
        return f"{SOURCE_MARK_BEGINNING}{whole:,} of {total:,} paragraphs, {name}]"

    def can_end(self, length: int) -> bool:
        """Return whether the body may be cut at this length: the mark must not turn the last line into structure."""
        if self.treatment == "as_written" or self.edited.open_fence_at(length):
            return True
        start = max(
            (found.end() for found in _LINE_END.finditer(self.body, max(0, length - _NEAR), length)), default=-1
        )
        if start < 0:
            start = max((found.end() for found in _LINE_END.finditer(self.body, 0, length)), default=0)
        line = self.body[start:length] + self._mark(length)
        begins_line = start > 0 or _begins_line(self.lead)
        edited = _edited_text(line, self.treatment, self.delimit, begins_line=begins_line, is_private=self.is_private)
        return edited.text == line

    def count_paragraphs(self, kept: int) -> tuple[int, int]:
        """Return how many paragraphs are whole in the first `kept` characters of the body, and how many it has.

        Paragraphs are separated by blank lines.
        """
        ends = _compute_paragraph_ends(self.body) if self.is_private else _paragraph_ends(self.body)
        return bisect_right(ends, kept), len(ends)


_may_cache: Callable[[int], bool] = lambda _: True  # noqa: E731 - until there is another one


def set_cache_check(check: Callable[[int], bool]) -> None:
    """Register the function that says whether what is made of a text of this sensitivity may be cached."""
    global _may_cache  # noqa: PLW0603 - set once, when the process begins
    _may_cache = check


def render_item(section: Section, candidate: Candidate) -> RenderedItem:
    """Return the candidate in the format of its section, without trailing white space; cached in the candidate."""
    known: RenderedItem | None = candidate.memo.get(section.form)
    if known is None:
        known = candidate.memo[section.form] = _render_item(section, candidate)
    return known


def _render_item(section: Section, candidate: Candidate) -> RenderedItem:
    body, shape, treatment, delimit = candidate.text.rstrip(), section.shape, section.treatment, section.delimit
    lead = _lead(section, candidate)
    is_quoted = treatment == "seen" and candidate.origin in QUOTED_ORIGINS
    if shape == "lines":
        body = _one_line(body)
        if is_quoted:
            lead, is_quoted = lead + QUOTE, False
        elif not candidate.kind and treatment == "seen" and body.startswith("["):
            lead += "\\"  # otherwise the body would look like the label of a kind
    is_private, begins_line = not _may_cache(candidate.sensitivity), _begins_line(lead)
    edited = _edited_text(body, treatment, delimit, begins_line=begins_line, is_quoted=is_quoted, is_private=is_private)
    whole = _facts_for_cut(candidate) if section.cut_mark == "source" else None
    return RenderedItem(lead, edited, treatment, delimit, whole, is_private)


def _lead(section: Section, candidate: Candidate) -> str:
    """Return the text before the body: a cut never shortens it, so a mark stays whole."""
    return _lead_of_shape(section, candidate) + _mark_of(section, candidate)


def _mark_of(section: Section, candidate: Candidate) -> str:
    if not candidate.mark:
        return ""
    return f"({candidate.mark})" + ("\n" if section.shape in {"text", "entries", "blocks", "sequence"} else " ")


def _lead_of_shape(section: Section, candidate: Candidate) -> str:
    shape, kind = section.shape, _one_line(candidate.kind)
    if section.treatment != "as_written":
        kind = kind.translate(_MARK_REMOVAL if section.delimit == "headings" else _TAG_MARK_REMOVAL)
    if shape == "entries":
        return f"### {candidate.date}\n"
    if shape == "lines":
        return f"- [{kind}] " if candidate.kind else "- "
    return f"**{kind}**: " if shape == "turns" else ""


def _facts_for_cut(candidate: Candidate) -> tuple[str, str, str]:
    path = candidate.labels.get("path", ())
    return candidate.ref, path[0] if path else "", candidate.date.isoformat() if candidate.date else ""


def _cut_name(ref_text: str, path: str, day: str) -> str:
    """Return the name and version of a text: KNOWLEDGE v3, src/main.py v2, daily log 2026-11-24 v1."""
    ref = Ref.parse(ref_text)
    name = path or f"{ref.kind.replace('_', ' ')} {day}".strip()
    version = f"v{ref.version}" if ref.version.isdigit() else ref.version
    shown = _one_line(name).translate(_TAG_MARK_REMOVAL)[:MAX_NAME_CHARACTERS]
    return f"{shown} {version}".strip()


def _edited_text(
    text: str,
    treatment: TextTreatment,
    delimit: Delimiter,
    *,
    begins_line: bool,
    is_private: bool,
    is_quoted: bool = False,
) -> EditedText:
    if treatment == "as_written":
        return EditedText(text)
    is_cached = not is_private and sys.getsizeof(text) <= _MAX_CACHED_CHARACTERS
    edited = _cached_edited_text if is_cached else _compute_edited_text
    return edited(text, treatment, delimit, begins_line, is_quoted)


def _compute_edited_text(
    text: str, treatment: TextTreatment, delimit: Delimiter, begins_line: bool, is_quoted: bool
) -> EditedText:
    has_tags = delimit == "tags"
    if treatment == "owners_file":
        return shift_headings(text, has_tags=has_tags)
    quote = QUOTE if is_quoted else ""
    return escape_text(text, begins_line=begins_line, is_turn=treatment == "said", has_tags=has_tags, quote=quote)


# Successive contexts consist of much the same texts: without this cache, an assembly of 16,000 tokens takes 2 ms more.
_cached_edited_text = lru_cache(_MAX_CACHED_TEXTS)(_compute_edited_text)


def edited_text_cache_bytes() -> tuple[int, int]:
    """Return the bytes of memory that the cached edited texts take at most, and the limit of these."""
    return _cached_edited_text.cache_info().currsize * _EDITED_TEXT_BYTES, _MAX_CACHED_TEXTS * _EDITED_TEXT_BYTES


def _begins_line(lead: str) -> bool:
    """Return whether the text after the lead begins a line; text after a bullet does, as it can be a heading."""
    return not lead or lead.endswith("\n") or lead in {"- ", f"- {QUOTE}"}


def count_item_tokens(tokenizer: Tokenizer, rendered: RenderedItem) -> int:
    """Return the tokens of the whole item; if possible, lead and body are counted separately, to use cached counts."""
    lead, body = rendered.lead, rendered.body
    begins_line = lead.endswith("\n") and body and not body[0].isspace() and body[0] != "/"
    if begins_line and tokenizer.additive_at_line_starts:
        return tokenizer.count(lead) + tokenizer.count(body)
    return tokenizer.count(rendered.text)


def separator_before(
    section: Section, *, first_section: bool, first_item: bool, candidate: Candidate | None = None
) -> str:
    """Return the text between the text so far and the section's next item, with the heading for the first item."""
    if not first_item:
        return ITEM_SEPARATORS[section.shape]
    return ("" if first_section else SECTION_SEPARATOR) + heading_text(section, candidate)


def heading_text(section: Section, candidate: Candidate | None = None) -> str:
    """Return the heading, or the opening tag, of the section with the white space between it and the first item.

    The tag of a section of one text has the version of that text, the candidate's.
    """
    if section.shape == "note":
        return ""
    if section.delimit == "tags":
        return _opening_tag(section, candidate)
    label = section.label if section.treatment == "as_written" else _one_line(section.label)
    return f"## {label}{AFTER_HEADING[section.shape]}"


def _opening_tag(section: Section, candidate: Candidate | None) -> str:
    version = Ref.parse(candidate.ref).version if candidate and section.shape == "text" else ""
    facts = {"name": _one_line(section.label), "layer": section.layer, "source": section.source, "version": version}
    attributes = " ".join(f'{name}="{escape(value)}"' for name, value in facts.items() if value)
    # For a reader of Markdown, the tag is HTML up to the next blank line; without one, it would hide code in an item.
    return f"<section {attributes}>\n\n"


def closing_text(section: Section) -> str:
    """Return the text after the last item of the section: its closing tag, or nothing."""
    return CLOSING_TAG if section.delimit == "tags" and section.shape != "note" else ""


def _compute_paragraph_ends(body: str) -> Sequence[int]:
    breaks = [match.start() for match in _BLANK_LINE.finditer(body.rstrip())]
    first = len(body) - len(body.lstrip())
    return [*(end for end in breaks if end > first), len(body.rstrip())]


# A cut asks for the paragraphs of one body at each length that it tries.
_paragraph_ends = lru_cache(1)(_compute_paragraph_ends)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())
