"""Fenced code that every reader sees alike: it opens and closes at the same indentation and holds no fence as long.

CommonMark, a reader who splits lines at other characters than a line break, and one who takes any fence for the end
agree about such a fence. All other lines that look like fences are for `escaping` to escape.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_RUN = re.compile(r"`{3,}|~{3,}")
_INFO = re.compile(r"[ \t]*[\w+#.={},:\"'/ \t-]{0,80}\r?\n")
"""What may follow the opening run: a language and simple attributes."""
_CLOSED = re.compile(r"[ \t]*\r?(?=\n|\Z)")


class Fence(NamedTuple):
    """Fenced code from the indentation of its first line to the end of its last line, in characters."""

    start: int
    opened: int
    """Where a text that ends here holds enough of the first line to open the fence."""
    end: int
    closing: str
    """The line that closes it, without a line break."""

    def moved(self, before: int, within: int) -> "Fence":
        """The same where the text grew by so many characters before it, and by so many up to its end."""
        start, opened, end, closing = self
        return Fence(start + before, opened + before, end + within, closing)


def has_fences(text: str) -> bool:
    """Whether there is a run of three marks at all."""
    return "```" in text or "~~~" in text


def fences_of(text: str, *, begins_line: bool = True, indented: bool = False) -> list[Fence]:
    """The fences of the text, in order; with `indented`, those of lists as well. Takes time linear in the text.

    `begins_line` says whether the first character of the text stands at the beginning of a line.
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
    """For each run, the place of the next one of the same mark that is at least as long."""
    following: list[int | None] = [None] * len(runs)
    waiting: dict[str, list[int]] = {"`": [], "~": []}
    for place, run in enumerate(runs):
        shorter = waiting[run[0][0]]
        while shorter and len(runs[shorter[-1]][0]) <= len(run[0]):
            following[shorter.pop()] = place
        shorter.append(place)
    return following


def _all_indented(lines: str, indentation: str) -> bool:
    """Whether every line that is not blank stands at least as far in."""
    return all(line.startswith(indentation) for line in lines.split("\n") if line.strip())


def is_fenced(fences: Sequence[Fence], place: int) -> bool:
    """Whether the character at that place belongs to one of the fences, its first and last line included."""
    if not fences:
        return False
    before = bisect_right(fences, place, key=lambda fence: fence.start) - 1
    return before >= 0 and place < fences[before].end


def unfenced(text: str, fences: Sequence[Fence]) -> Iterator[tuple[int, int]]:
    """The stretches of the text that belong to none of the fences, from and to which character."""
    start = 0
    for fence in fences:
        yield start, fence.start
        start = fence.end
    yield start, len(text)
