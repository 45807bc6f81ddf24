"""The pieces of contexts that a thing or words are found in: `told` and `omitted` hold their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from assembly.finding.asking import rows
from assembly.finding.wanted import Thing, Wanted

MOST_TEXTS = 20_000
"""So many texts with the words are looked at; more have words that say nothing."""
MOST_PIECES = 2_000
"""So many pieces are searched for in contexts: the newest ones."""

OF_THING = """
SELECT id FROM pieces WHERE named = %(named)s AND (%(ref)s = named OR ref = %(ref)s) ORDER BY id DESC LIMIT %(most)s
"""
# Must read as in the index `stored_text_words`: of longer texts, PostgreSQL indexes no more.
WITH_WORDS = """
SELECT pieces.id FROM (
    SELECT sha256 FROM stored_texts
    WHERE to_tsvector('english', left(text, 100000)) @@ websearch_to_tsquery('english', %(words)s) LIMIT %(texts)s
) AS matching JOIN pieces ON text_sha256 = sha256 ORDER BY pieces.id DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The numbers of the pieces that are searched for, the newest first."""

    contains: Sequence[int] = ()
    omits: Sequence[int] = ()
    words: Sequence[int] = ()

    @property
    def are_too_many(self) -> bool:
        """Whether there may be more than are searched for."""
        return MOST_PIECES in {len(self.contains), len(self.omits), len(self.words)}


def pieces_of(wanted: Wanted) -> Pieces:
    """A query for each that is asked for."""
    return Pieces(
        contains=_of_thing(wanted.contains) if wanted.contains else (),
        omits=_of_thing(wanted.omits) if wanted.omits else (),
        words=_with_words(wanted.words) if wanted.words else (),
    )


def _of_thing(thing: Thing) -> list[int]:
    asked = {"named": thing.named, "ref": thing.ref, "most": MOST_PIECES}
    return [number for (number,) in rows(OF_THING, asked)]


def _with_words(words: str) -> list[int]:
    asked = {"words": words, "texts": MOST_TEXTS, "most": MOST_PIECES}
    return [number for (number,) in rows(WITH_WORDS, asked)]
