"""Paths by pattern: ** stands for any folders, * and ? for characters within one name."""

from collections.abc import Sequence
from fnmatch import fnmatchcase


def path_matches(path: str, pattern: str) -> bool:
    """Whether the whole path is as the pattern says. Upper and lower case differ. Takes time in proportion to both."""
    return _wild(path.split("/"), pattern.split("/"))


def _wild(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """The usual walk with one way back: to the last **, which then takes one name more."""
    name = place = taken = 0
    last: int | None = None
    while name < len(names):
        if place < len(patterns) and patterns[place] == "**":
            last, taken = place, name
            place += 1
        elif place < len(patterns) and fnmatchcase(names[name], _without_classes(patterns[place])):
            name, place = name + 1, place + 1
        elif last is not None:
            taken += 1
            name, place = taken, last + 1
        else:
            return False
    return all(pattern == "**" for pattern in patterns[place:])


def _without_classes(pattern: str) -> str:
    """Brackets stand for themselves: they are common in the paths of web projects."""
    return pattern.replace("[", "[[]")
