"""The exact text of a context that is on no record, section by section, with the marks of its cuts. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from assembly.engine.codes import Code
from assembly.engine.rendering import MARKER
from assembly.engine.types import Assembled

Run = tuple[str, bool]
"""A text, and whether it is the mark of a cut."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The text of a section."""

    layer: str
    runs: tuple[Run, ...]


def text_pieces(made: Assembled) -> list[TextPiece]:
    """All of the text by section. What stands between two sections goes with the first."""
    if not made.content:
        return []
    present = [section for section in made.sections if section.end > section.start]
    ends = [section.start for section in present[1:]] + [len(made.content)]
    return [
        TextPiece(section.layer.lower(), tuple(_runs(made, section.start, end)))
        for section, end in zip(present, ends, strict=True)
    ]


def _runs(made: Assembled, start: int, end: int) -> Iterator[Run]:
    mark = len(MARKER.strip())
    cuts = (decision.end for decision in made.decisions if decision.code is Code.TRUNCATED and decision.end)
    for cut in sorted(cut for cut in cuts if start < cut <= end):
        yield made.content[start : cut - mark], False
        yield made.content[cut - mark : cut], True
        start = cut
    yield made.content[start:end], False
