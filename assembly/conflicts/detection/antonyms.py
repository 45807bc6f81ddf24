"""Antonyms of English words, from WordNet: “cheap” and “expensive”, “often” and “rarely”.

The lexicon's own lists of opposites are strict cues. These pairs are many and less sure, because a word has several
meanings, so they make a loose cue only.
"""

from collections.abc import Mapping
from functools import cache

from assembly.conflicts.detection.lexicon import FOLDER, stem
from assembly.conflicts.detection.statement import Statement

FILE = FOLDER / "wordnet_antonyms.txt"
"""A pair of words per line; the lines with # are WordNet's licence."""


@cache
def _antonyms() -> Mapping[str, frozenset[str]]:
    """Return the stems of the antonyms of each stem."""
    found: dict[str, frozenset[str]] = {}
    lines = FILE.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            one, other = (stem(word, "english") for word in line.split())
            found[one] = found.get(one, frozenset()) | {other}
            found[other] = found.get(other, frozenset()) | {one}
    return found


def antonyms_in(left: Statement, right: Statement) -> tuple[str, str] | None:
    """Return the first word of the left statement whose antonym only the right one has, and that, as they are written.

    Antonyms before one common noun describe two things of one kind, so they are none: “fresh fish” and “salty fish”.
    """
    if left.language != "english" or right.language != "english":
        return None
    known = _antonyms()
    mine, theirs = _by_stem(left), _by_stem(right)
    for root in sorted(mine.keys() & known.keys() - theirs.keys()):
        for other in sorted(known[root] & theirs.keys() - mine.keys()):
            before = _next_word(left, mine[root])
            if not before or before != _next_word(right, theirs[other]):
                return left.spelled[mine[root]], right.spelled[theirs[other]]
    return None


def _by_stem(statement: Statement) -> dict[str, str]:
    """Return the keys of the statement's words by their stems; a synonym of a word has its key, but not its stem."""
    return {stem(word, "english"): key for key, word in statement.spelled.items()}


def _next_word(statement: Statement, key: str) -> str:
    place = statement.sequence.index(key) + 1
    return statement.sequence[place] if place < len(statement.sequence) else ""
