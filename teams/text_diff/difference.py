"""This module computes the difference of two texts: first by lines, then by words within changed lines."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from config.http.cpu_budget import check_cpu
from teams.text_diff.alignment import Span, align, align_lines

RunKind = Literal["equal", "removed", "added"]

# Signs are apart from words, so that a comma that comes or goes marks no word. Scripts that put no spaces between
# words are compared sign by sign.
_SPACELESS = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SIGNS = r"!-/:-@\[-^`{-~\u2010-\u205e\u3000-\u303f"
_WORD = rf"[^\s{_SIGNS}{_SPACELESS}]+"
_TOKEN = re.compile(rf"{_WORD}(?:['\u2019]{_WORD})*|\n|[^\S\n]+|[{_SPACELESS}]|[{_SIGNS}]")

_COUNTED = re.compile(rf"{_WORD}(?:['\u2019]{_WORD})*|[{_SPACELESS}]")
"""A pattern of the tokens that count as words."""


@dataclass(frozen=True, slots=True)
class DiffRun:
    """Consecutive words that were all kept, removed or added, with the white space between them."""

    kind: RunKind
    text: str

    @property
    def changed(self) -> bool:
        return self.kind != "equal"

    @property
    def words(self) -> int:
        """The number of words in the run, without punctuation and white space."""
        return sum(match[0][0].isalnum() or match[0][0] == "_" for match in _COUNTED.finditer(self.text))


def tokenise(text: str) -> list[str]:
    """Return the words, punctuation marks and white space of the text; joined, they are the text."""
    return _TOKEN.findall(text)


def diff_runs(old: str, new: str) -> tuple[DiffRun, ...]:
    """Return the runs that lead from the old text to the new one. A removed run comes before the run
    that replaced it.
    """
    if not old or not new:
        return tuple(run for run in (DiffRun("removed", old), DiffRun("added", new)) if run.text)
    before, after = tokenise(old), tokenise(new)
    spans = merge_across_islands(align(before, after), island_between(before, after))
    runs: list[DiffRun] = []
    for span in spans:
        removed, added = before[span.old_from : span.old_to], after[span.new_from : span.new_to]
        if span.same:
            runs.append(DiffRun("equal", "".join(added)))
            continue
        pair = DiffRun("removed", "".join(removed)), DiffRun("added", "".join(added))
        runs.extend(run for run in pair if run.text)
    return tuple(runs)


IsIsland = Callable[[Span, Span, Span], bool]
"""A function that returns whether an equal span between two changes is too short to be shown as unchanged."""


def merge_across_islands(spans: Sequence[Span], is_island: IsIsland) -> list[Span]:
    """Return the spans, with two changes merged if only an island lies between them."""
    kept: list[Span] = []
    for span in spans:
        check_cpu()
        kept.append(span)
        while not kept[-1].same and len(kept[-3:]) == 3 and is_island(*kept[-3:]):  # noqa: PLR2004 - change, island, change
            first, last = kept[-3], kept[-1]
            kept[-3:] = [Span(False, first.old_from, last.old_to, first.new_from, last.new_to)]
    return kept


def island_between(old: Sequence[str], new: Sequence[str]) -> IsIsland:
    """Return the test for islands: unchanged words between two changes that are shown as part of one change.

    An island is white space, or a text that is short compared with both changes.

    Islands never cross lines. Between two additions, or two removals, there are none: merging them would show unchanged
    words as removed.
    """
    old_ends, new_ends = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]

    def weight(span: Span) -> int:
        removed = old_ends[span.old_to] - old_ends[span.old_from]
        return max(removed, new_ends[span.new_to] - new_ends[span.new_from])

    def is_island(before: Span, between: Span, after: Span) -> bool:
        removes = before.old_from < before.old_to or after.old_from < after.old_to
        adds = before.new_from < before.new_to or after.new_from < after.new_to
        if not (removes and adds):
            return False
        smaller = min(weight(before), weight(after))
        if weight(between) > smaller + 2:
            return False
        text = "".join(new[between.new_from : between.new_to])
        return "\n" not in text and 2 * len(text.strip()) <= smaller

    return is_island


MAX_WORD_CHARACTERS = 250_000
"""The maximum number of characters of all changed lines that are compared word by word; others are compared by lines.
"""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class DiffPart:
    """Consecutive whole lines of both texts, either unchanged or changed.

    `old_line` and `new_line` are the numbers, from 1, of the first line on both sides.
    """

    old_line: int
    new_line: int
    runs: tuple[DiffRun, ...]

    @property
    def changed(self) -> bool:
        return any(run.changed for run in self.runs)


@dataclass(frozen=True, slots=True)
class TextDiff:
    """The difference of two texts from beginning to end: equal and removed runs make the old text, equal and added ones
    the new.

    `is_coarse`: so much changed that some parts were compared as a whole, not word by word.
    """

    parts: tuple[DiffPart, ...]
    is_coarse: bool = False

    @property
    def changes(self) -> tuple[DiffPart, ...]:
        """The parts that changed, in order."""
        return tuple(part for part in self.parts if part.changed)

    @property
    def changed_runs(self) -> tuple[DiffRun, ...]:
        return tuple(run for part in self.parts for run in part.runs if run.changed)

    @property
    def words_added(self) -> int:
        return sum(run.words for run in self.changed_runs if run.kind == "added")

    @property
    def words_removed(self) -> int:
        return sum(run.words for run in self.changed_runs if run.kind == "removed")

    @property
    def is_white_space_only(self) -> bool:
        """Whether something changed, but no word and no punctuation mark."""
        return bool(self.changed_runs) and all(run.text.isspace() for run in self.changed_runs)


def split_lines(text: str) -> list[str]:
    """Return the lines of the text with their line endings."""
    return _LINE.findall(text)


def diff_texts(old: str, new: str) -> TextDiff:
    """Return the difference of two texts; time and memory are proportional to their length.

    Lines are compared first, then the words of changed lines, up to MAX_WORD_CHARACTERS.
    """
    before, after = split_lines(old), split_lines(new)
    spans = merge_across_islands(align_lines(before, after), lambda _first, between, _last: _is_blank(before, between))
    parts, left, is_coarse = list[DiffPart](), MAX_WORD_CHARACTERS, False
    for span in spans:
        check_cpu()
        removed, added = "".join(before[span.old_from : span.old_to]), "".join(after[span.new_from : span.new_to])
        if span.same:
            runs: tuple[DiffRun, ...] = (DiffRun("equal", added),)
        elif not removed or not added or len(removed) + len(added) <= left:
            left -= len(removed) + len(added) if removed and added else 0
            runs = diff_runs(removed, added)
        else:
            runs, is_coarse = (DiffRun("removed", removed), DiffRun("added", added)), True
        parts.append(DiffPart(span.old_from + 1, span.new_from + 1, runs))
    return TextDiff(tuple(parts), is_coarse)


def _is_blank(lines: Sequence[str], span: Span) -> bool:
    return all(not line.strip() for line in lines[span.old_from : span.old_to])
