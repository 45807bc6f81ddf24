"""How two texts differ: lines first, words inside the lines that changed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from config.http.cpu_budget import check_cpu
from teams.differences.alignment import Span, aligned_lines
from teams.differences.words import Run, runs_of, tidied

MOST_WORD_CHARACTERS = 250_000
"""Of all lines that changed, removed and added ones together: more is compared by lines alone."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Part:
    """Whole lines of both texts: unchanged ones, or a place where something changed.

    `old_line` and `new_line` are the numbers, from 1, of its first line on both sides.
    """

    old_line: int
    new_line: int
    runs: tuple[Run, ...]

    @property
    def changed(self) -> bool:
        return any(run.changed for run in self.runs)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts from beginning to end: their equal and removed runs are the old one, the equal and added the new.

    `is_coarse`: so much changed that some places were compared as a whole, not word by word.
    """

    parts: tuple[Part, ...]
    is_coarse: bool = False

    @property
    def changes(self) -> tuple[Part, ...]:
        """The places that changed, in order."""
        return tuple(part for part in self.parts if part.changed)

    @property
    def changed_runs(self) -> tuple[Run, ...]:
        return tuple(run for part in self.parts for run in part.runs if run.changed)

    @property
    def words_added(self) -> int:
        return sum(run.words for run in self.changed_runs if run.kind == "added")

    @property
    def words_removed(self) -> int:
        return sum(run.words for run in self.changed_runs if run.kind == "removed")

    @property
    def only_white_space(self) -> bool:
        """Whether something changed, but no word and no sign."""
        return bool(self.changed_runs) and all(run.text.isspace() for run in self.changed_runs)


def lines_of(text: str) -> list[str]:
    """The lines with their ends, which together are the text."""
    return _LINE.findall(text)


def difference(old: str, new: str) -> Difference:
    """How the new text differs from the old one; time and memory are in proportion to their length.

    Lines are compared first, then the words of those that changed, as far as MOST_WORD_CHARACTERS reaches.
    """
    before, after = lines_of(old), lines_of(new)
    spans = tidied(aligned_lines(before, after), lambda _first, between, _last: _is_blank(before, between))
    parts, left, is_coarse = list[Part](), MOST_WORD_CHARACTERS, False
    for span in spans:
        check_cpu()
        removed, added = "".join(before[span.old_from : span.old_to]), "".join(after[span.new_from : span.new_to])
        if span.same:
            runs: tuple[Run, ...] = (Run("equal", added),)
        elif not removed or not added or len(removed) + len(added) <= left:
            left -= len(removed) + len(added) if removed and added else 0
            runs = runs_of(removed, added)
        else:
            runs, is_coarse = (Run("removed", removed), Run("added", added)), True
        parts.append(Part(span.old_from + 1, span.new_from + 1, runs))
    return Difference(tuple(parts), is_coarse)


def _is_blank(lines: Sequence[str], span: Span) -> bool:
    return all(not line.strip() for line in lines[span.old_from : span.old_to])
