"""This module splits the exact text of a context into sections, items and the marks of cuts, in excerpts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assembly.engine.codes import Code
from assembly.engine.rendering import SOURCE_MARK_BEGINNING, TRUNCATION_MARKER
from assembly.engine.types import Decision

MAX_EXCERPT_CHARACTERS = 60_000
"""Most characters of an excerpt, which a page shows at once; the rest of a longer text is loaded on request."""
NEAR_END = 2_000  # characters before the end of an excerpt in which a line break may end it

Span = tuple[int, int]
Sections = Sequence[Mapping[str, Any]]
"""The results of all sections, as a record holds them."""
Run = tuple[str, bool]
"""A part of a text, and whether it is the mark of a cut."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a section: an item, or the text between two items.

    `position` is that of the item's decision, None for text between items. `begins` and `ends` say whether the item's
    beginning and end are within the excerpt.
    """

    runs: tuple[Run, ...]
    position: int | None = None
    begins: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of the exact text, or the part of it within an excerpt."""

    layer: str
    label: str
    parts: tuple[TextPart, ...]


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """An excerpt of a context's text, from `begin` to `end`.

    `following` is the first character of the next excerpt; None at the end of the text.
    """

    pieces: tuple[TextSection, ...]
    begin: int
    end: int
    following: int | None

    @property
    def is_whole(self) -> bool:
        """Whether the excerpt is the whole text."""
        return self.begin == 0 and self.following is None


def text_excerpt(sections: Sections, decisions: Sequence[Decision], content: str, begin: int = 0) -> TextExcerpt:
    """Return the excerpt that begins at character `begin`. Text between two sections belongs to the first one."""
    end = _excerpt_end(content, begin)
    items = sorted((one.start, one.end, position) for position, one in enumerate(decisions) if one.start is not None)
    marks = sorted(_cut_mark_position(content, one.end) for one in decisions if one.code == Code.TRUNCATED and one.end)
    shown = _ExcerptBuilder(
        content, begin, end, [(start, stop or start, position) for start, stop, position in items], marks
    )
    return TextExcerpt(tuple(_text_sections(sections, shown)), begin, end, end if end < len(content) else None)


def all_text_sections(sections: Sections, decisions: Sequence[Decision], content: str) -> list[TextSection]:
    """Return all sections of the text; a section that spans several excerpts is split."""
    pieces: list[TextSection] = []
    following: int | None = 0 if content else None
    while following is not None:
        shown = text_excerpt(sections, decisions, content, following)
        pieces += shown.pieces
        following = shown.following
    return pieces


def _cut_mark_position(content: str, end: int) -> Span:
    """Return the start and end of the mark of a cut item that ends at `end`.

    A line after the mark that closes fenced code is part of it.
    """
    start = max(content.rfind(beginning, 0, end) for beginning in (TRUNCATION_MARKER, SOURCE_MARK_BEGINNING))
    return start + 1, end  # after the space


def _excerpt_end(content: str, begin: int) -> int:
    """Return the end of the excerpt: after a line break among its last 2,000 characters, if there is one."""
    most = begin + MAX_EXCERPT_CHARACTERS
    if most >= len(content):
        return len(content)
    return (content.rfind("\n", most - NEAR_END, most) + 1) or most


@dataclass(frozen=True, slots=True)
class _ExcerptBuilder:
    content: str
    begin: int
    end: int
    items: Sequence[tuple[int, int, int]]
    """Start, end and position of each item, in the order of the text."""
    marks: Sequence[Span]

    def parts(self, start: int, end: int) -> Iterator[TextPart]:
        """Yield the parts of the text from start to end, each limited to the excerpt."""
        at = start
        for item_start, item_end, position in self.items:
            if start <= item_start and item_end <= end:
                yield TextPart(self.runs(at, item_start))
                begins, ends = self.begin <= item_start, item_end <= self.end
                yield TextPart(self.runs(item_start, item_end), position, begins, ends)
                at = item_end
        yield TextPart(self.runs(at, end))

    def runs(self, start: int, end: int) -> tuple[Run, ...]:
        """Return the text from start to end, limited to the excerpt, with the marks of cuts separated."""
        at, end, runs = max(start, self.begin), min(end, self.end), []
        for mark_start, mark_end in self.marks:
            if at <= mark_start and mark_end <= end:
                runs += [(self.content[at:mark_start], False), (self.content[mark_start:mark_end], True)]
                at = mark_end
        return tuple(run for run in (*runs, (self.content[at:end], False)) if run[0])


def _text_sections(sections: Sections, shown: _ExcerptBuilder) -> Iterator[TextSection]:
    present = [section for section in sections if section["end"] > section["start"]]
    ends = [section["start"] for section in present[1:]] + [len(shown.content)]
    for section, end in zip(present, ends, strict=False):
        if section["start"] < shown.end and end > shown.begin:
            parts = tuple(part for part in shown.parts(section["start"], end) if part.runs)
            yield TextSection(section["layer"].lower(), section["label"], parts)
