"""The exact text of a context, section by section, with the marks of cuts. Pure: everything comes in as values."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.engine.codes import Code
from assembly.engine.rendering import MARKER
from assembly.engine.types import Decision
from assembly.models import Assembly


@dataclass(frozen=True, slots=True)
class Piece:
    """A section of the exact text, as runs of (text, whether it is the mark of a cut)."""

    layer: str
    label: str
    runs: tuple[tuple[str, bool], ...]


def pieces(assembly: Assembly, decisions: Sequence[Decision], content: str) -> list[Piece]:
    """The exact text, all of it, by section. What stands between two sections goes with the first."""
    present = [section for section in assembly.sections if section["end"] > section["start"]]
    marks = sorted(
        (decision.end - len(MARKER.strip()), decision.end)
        for decision in decisions
        if decision.code == Code.TRUNCATED and decision.end
    )
    ends = [section["start"] for section in present[1:]] + [len(content)]
    return [
        Piece(section["layer"].lower(), section["label"], _runs(content, section["start"], end, marks))
        for section, end in zip(present, ends, strict=False)
    ]


def _runs(content: str, start: int, end: int, marks: Sequence[tuple[int, int]]) -> tuple[tuple[str, bool], ...]:
    runs, at = [], start
    for mark_start, mark_end in marks:
        if start <= mark_start and mark_end <= end:
            runs += [(content[at:mark_start], False), (content[mark_start:mark_end], True)]
            at = mark_end
    return (*runs, (content[at:end], False))
