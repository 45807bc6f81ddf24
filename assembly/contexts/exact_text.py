"""The exact text of a context, stretch by stretch: its sections, in them its items, and the marks of cuts. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assembly.engine.codes import Code
from assembly.engine.rendering import TRUNCATION_MARKER
from assembly.engine.types import Decision

MAX_EXCERPT_CHARACTERS = 60_000
"""Characters that a page shows at once, at most: a longer text follows when it is asked for."""
NEAR_END = 2_000  # characters before the end of a stretch in which a line may end it

Span = tuple[int, int]
Sections = Sequence[Mapping[str, Any]]
"""What became of the sections, as a record holds it."""
Run = tuple[str, bool]
"""Some text, and whether it is the mark of a cut."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Of a section: an item, or what stands between two. `position`: of its decision; None: of no item.

    Of an item that goes on from the stretch before, or into the next one, not both its ends are here.
    """

    runs: tuple[Run, ...]
    position: int | None = None
    begins: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class TextSection:
    """A section of the exact text."""

    layer: str
    label: str
    parts: tuple[TextPart, ...]


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """What a page shows of the text. `following`: where the rest of it begins; None: there is none."""

    pieces: tuple[TextSection, ...]
    begin: int
    end: int
    following: int | None

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the text."""
        return self.begin == 0 and self.following is None


def text_excerpt(sections: Sections, decisions: Sequence[Decision], content: str, begin: int = 0) -> TextExcerpt:
    """The text from there on, as much as a page shows. What stands between two sections goes with the first."""
    end = _excerpt_end(content, begin)
    items = sorted((one.start, one.end, position) for position, one in enumerate(decisions) if one.start is not None)
    marks = sorted(_cut_mark_position(content, one.end) for one in decisions if one.code == Code.TRUNCATED and one.end)
    shown = _ExcerptBuilder(
        content, begin, end, [(start, stop or start, position) for start, stop, position in items], marks
    )
    return TextExcerpt(tuple(_text_sections(sections, shown)), begin, end, end if end < len(content) else None)


def all_text_sections(sections: Sections, decisions: Sequence[Decision], content: str) -> list[TextSection]:
    """All of the text, stretch by stretch."""
    pieces: list[TextSection] = []
    following: int | None = 0 if content else None
    while following is not None:
        shown = text_excerpt(sections, decisions, content, following)
        pieces += shown.pieces
        following = shown.following
    return pieces


def _cut_mark_position(content: str, end: int) -> Span:
    """Where the mark of a cut stands that ends there, with the line that closes fenced code after it."""
    start = content.rfind(TRUNCATION_MARKER, 0, end) + len(TRUNCATION_MARKER) - len(TRUNCATION_MARKER.lstrip())
    return start, end


def _excerpt_end(content: str, begin: int) -> int:
    """Where the stretch ends: after a line, if one ends near the most that it holds."""
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
    """Where each begins and ends, and its position, in the order of the text."""
    marks: Sequence[Span]

    def parts(self, start: int, end: int) -> Iterator[TextPart]:
        """What stands from start to end, as far as it is shown."""
        at = start
        for item_start, item_end, position in self.items:
            if start <= item_start and item_end <= end:
                yield TextPart(self.runs(at, item_start))
                begins, ends = self.begin <= item_start, item_end <= self.end
                yield TextPart(self.runs(item_start, item_end), position, begins, ends)
                at = item_end
        yield TextPart(self.runs(at, end))

    def runs(self, start: int, end: int) -> tuple[Run, ...]:
        """The text there, as far as it is shown, with the marks set apart."""
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
