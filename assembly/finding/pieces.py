"""The pieces of contexts that a thing or words are found in: `told` and `omitted` hold their numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assembly.finding.asking import rows
from assembly.finding.wanted import Thing, Wanted

MOST_TEXTS = 20_000
"""So many texts with the words are looked at: more have words that say nothing."""
MOST_PIECES = 2_000
"""So many pieces are searched for in contexts."""
DOCUMENT = re.compile(r"chunk:[0-9a-f-]{36}")

OF_THING = "SELECT id FROM pieces WHERE named = %(named)s AND (ref = %(ref)s OR named = %(ref)s) LIMIT %(most)s"
# Contexts hold documents chunk by chunk, each named by itself; found by the index `piece_chunk`.
OF_DOCUMENT = """
SELECT id FROM pieces WHERE named LIKE 'chunk:%%' AND named LIKE %(named)s || '@%%' LIMIT %(most)s
"""
# The profile and the summaries of a record are among its pieces, and were told nobody as they are. The words must read
# as in the index `stored_text_words`: of longer texts, PostgreSQL indexes no more.
WITH_WORDS = """
SELECT pieces.id FROM (
    SELECT sha256 FROM stored_texts
    WHERE to_tsvector('english', left(text, 100000)) @@ websearch_to_tsquery('english', %(words)s) LIMIT %(texts)s
) AS matching JOIN pieces ON pieces.text_sha256 = matching.sha256
WHERE split_part(named, ':', 1) NOT IN ('profile', 'summary') LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The numbers of the pieces that are searched for."""

    contains: Sequence[int] = ()
    omits: Sequence[int] = ()
    words: Sequence[int] = ()

    @property
    def are_too_many(self) -> bool:
        """Whether there may be more than are searched for."""
        return MOST_PIECES in {len(self.contains), len(self.omits), len(self.words)}

    def lack(self, wanted: Wanted) -> bool:
        """Whether a thing that is wanted is no piece at all."""
        return bool((wanted.contains and not self.contains) or (wanted.omits and not self.omits))


def pieces_of(wanted: Wanted) -> Pieces:
    """A query for each that is asked for."""
    return Pieces(
        contains=_of_thing(wanted.contains) if wanted.contains else (),
        omits=_of_thing(wanted.omits) if wanted.omits else (),
        words=_with_words(wanted.words) if wanted.words else (),
    )


def _of_thing(thing: Thing) -> list[int]:
    asked = {"named": thing.named, "ref": thing.ref, "most": MOST_PIECES}
    return [number for (number,) in rows(OF_DOCUMENT if DOCUMENT.fullmatch(thing.named) else OF_THING, asked)]


def _with_words(words: str) -> list[int]:
    asked = {"words": words, "texts": MOST_TEXTS, "most": MOST_PIECES}
    return [number for (number,) in rows(WITH_WORDS, asked)]
