"""Fenced code is recognised where every reader of Markdown agrees on its beginning and its end.

Such a fence opens and closes at the same indentation and holds no fence as long as itself. CommonMark, a reader who
splits lines at other characters than a line break, and one who takes any fence for the end agree about it. All other
lines that look like fences are escaped by `escaping`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_RUN = re.compile(r"`{3,}|~{3,}")
_INFO = re.compile(r"[ \t]*[\w+#.={},:\"'/ \t-]{0,80}\r?\n")
"""The text that may follow the opening marks of a fence: a language and simple attributes."""
_CLOSED = re.compile(r"[ \t]*\r?(?=\n|\Z)")


class Fence(NamedTuple):
    """Fenced code from the indentation of its first line to the end of its last line, in characters."""

    start: int
    opened: int
    """The position in characters from which on the fence counts as open: right after its first three marks."""
    end: int
    closing: str
    """The line that closes the fence, without a line break."""

    def moved(self, before: int, within: int) -> "Fence":
        """Return the fence after edits: `before` characters were added before it, `within` up to its end."""
        start, opened, end, closing = self
        return Fence(start + before, opened + before, end + within, closing)


def has_fences(text: str) -> bool:
    """Return whether the text contains three backticks or tildes in a row."""
    return "```" in text or "~~~" in text


def fences_of(text: str, *, begins_line: bool = True, indented: bool = False) -> list[Fence]:
    """Return the fences of the text, in order; with `indented`, also those in lists. Takes time linear in the text.

    `begins_line` says whether the first character of the text begins a line.
    """
    return list(_fences(text, begins_line=begins_line, indented=indented)) if has_fences(text) else []


def _fences(text: str, *, begins_line: bool, indented: bool) -> Iterator[Fence]:
    runs = list(_RUN.finditer(text))
    following, end = _next_closing_runs(runs), 0
    for place, run in enumerate(runs):
        if run.start() < end or (closer := following[place]) is None:
            continue
        line = text.rfind("\n", 0, run.start()) + 1
        indentation = text[line : run.start()]
        if indentation.strip(" ") or (indentation and not indented) or (line == 0 and not begins_line):
            continue
        info, closing = _INFO.match(text, run.end()), runs[closer]
        closed = _CLOSED.match(text, closing.end())
        if info is None or closed is None or info.end() > closing.start():
            continue
        if text[text.rfind("\n", 0, closing.start()) + 1 : closing.start()] != indentation:
            continue
        if indentation and not _all_indented(text[info.end() : closing.start()], indentation):
            continue
        end = closing.end()
        yield Fence(line, run.start() + 3, end, indentation + run[0])


def _next_closing_runs(runs: Sequence[re.Match[str]]) -> list[int | None]:
    """Return, for each run of marks, the index of the next run of the same mark that is at least as long, or None."""
    following: list[int | None] = [None] * len(runs)
    waiting: dict[str, list[int]] = {"`": [], "~": []}
    for place, run in enumerate(runs):
        shorter = waiting[run[0][0]]
        while shorter and len(runs[shorter[-1]][0]) <= len(run[0]):
            following[shorter.pop()] = place
        shorter.append(place)
    return following


def _all_indented(lines: str, indentation: str) -> bool:
    """Whether every line that is not blank begins with this indentation."""
    return all(line.startswith(indentation) for line in lines.split("\n") if line.strip())


def is_fenced(fences: Sequence[Fence], place: int) -> bool:
    """Return whether the character at that place belongs to one of the fences, their first and last lines included."""
    if not fences:
        return False
    before = bisect_right(fences, place, key=lambda fence: fence.start) - 1
    return before >= 0 and place < fences[before].end


def unfenced(text: str, fences: Sequence[Fence]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of the text outside the fences, each as its start and end in characters."""
    start = 0
    for fence in fences:
        yield start, fence.start
        start = fence.end
    yield start, len(text)
