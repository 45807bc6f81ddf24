"""Where two texts begin to differ, in a few lines: enough to know what a change is about."""

from itertools import takewhile

MOST_LINES = 4  # of each side
MOST_CHARACTERS = 200  # of a line


def first_lines(before: str, after: str) -> list[tuple[str, str]]:
    """The first lines that went (`-`) and came (`+`); none where nothing but line ends differs."""
    old, new = before.splitlines(), after.splitlines()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    old, new = old[same:], new[same:]
    ending = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(old), reversed(new), strict=False)))
    went, came = old[: len(old) - ending], new[: len(new) - ending]
    return [("-", _short(line)) for line in went[:MOST_LINES]] + [("+", _short(line)) for line in came[:MOST_LINES]]


def _short(line: str) -> str:
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]} …"
