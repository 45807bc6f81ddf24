"""Words of two statements that are not equal are aligned by their vectors, such as “agreement” and “contract”.

The vectors are those of the bundled static embedder, whatever embedder made the cosine of the whole texts, so that a
word takes some microseconds and the answer is the same everywhere. Near vectors tell that two words are of one topic,
not that they mean the same: “landlord” and “tenant” are near, too.
"""

from collections.abc import Iterable
from functools import lru_cache

from memories.embeddings.base import Vector
from memories.embeddings.wordllama import embed, vector_length

CACHED_WORDS = 2_048
"""A vector takes 1 kB."""
LEAST_SIMILARITY = 0.4
"""The least cosine of aligned words."""
WEIGHT_LENGTH, MAX_WEIGHT = 16.0, 1.5
"""The length of the vector of a word that weighs 1, and the most that a word weighs."""


@lru_cache(CACHED_WORDS)
def vector_of(word: str) -> Vector | None:
    return embed([word])[0]


@lru_cache(CACHED_WORDS)
def word_similarity(one: str, other: str) -> float:
    """Return the cosine of two words; 0 for a word of which the embedder knows no part."""
    mine, theirs = vector_of(one), vector_of(other)
    return 0.0 if mine is None or theirs is None else float(mine @ theirs)


@lru_cache(CACHED_WORDS)
def word_weight(word: str) -> float:
    """Return how much a word says about its text, 0 to MAX_WEIGHT; about .1 for “the” and 1.1 for “boat”."""
    return min(MAX_WEIGHT, vector_length(word) / WEIGHT_LENGTH)


@lru_cache(CACHED_WORDS)
def text_similarity(one: str, other: str) -> float:
    """Return the cosine of two sentences."""
    return word_similarity(one, other)


def sentence_similarity(one: str, other: str) -> float:
    """Return the cosine of two sentences, 0 to 1, equal if they are swapped."""
    return max(0.0, text_similarity(*sorted((one, other))))


def aligned_words(left: Iterable[tuple[str, str]], right: Iterable[tuple[str, str]]) -> dict[str, tuple[str, float]]:
    """Return by each aligned word of the left side its partner and their cosine, the nearest first, one to one.

    Each word is given by its key and as it is written; keys are returned.
    """
    pairs = sorted(
        ((word_similarity(*sorted((mine, theirs))), key, other) for key, mine in left for other, theirs in right),
        key=lambda one: (-one[0], *sorted(one[1:])),
    )
    found: dict[str, tuple[str, float]] = {}
    taken: set[str] = set()
    for cosine, key, other in pairs:
        if cosine < LEAST_SIMILARITY:
            break
        if key not in found and other not in taken:
            found[key] = other, cosine
            taken.add(other)
    return found
