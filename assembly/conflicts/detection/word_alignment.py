"""Words of two statements that are not equal are aligned by their vectors, such as “agreement” and “contract”.

The vectors are those of the bundled static embedder, whatever embedder made the cosine of the whole texts, so that a
word takes some microseconds and the answer is the same everywhere. Near vectors tell that two words are of one topic,
not that they mean the same: “landlord” and “tenant” are near, too.
"""

from collections.abc import Iterable

from assembly.conflicts.detection.caches import cached_words
from memories.embeddings.base import Vector
from memories.embeddings.wordllama import embed, vector_length

CACHED_WORDS = 2_048
VECTOR_BYTES, NUMBER_BYTES, SENTENCES_BYTES = 1_300, 300, 1_800
"""Approximate bytes of memory of a cached vector, of a number of words, and of a number of two sentences."""
LEAST_SIMILARITY = 0.4
"""The least cosine of aligned words."""
WEIGHT_LENGTH, MAX_WEIGHT = 16.0, 1.5
"""The length of the vector of a word that weighs 1, and the most that a word weighs."""


@cached_words(CACHED_WORDS, VECTOR_BYTES)
def _vector(word: str) -> Vector | None:
    return embed([word])[0]


@cached_words(CACHED_WORDS, NUMBER_BYTES)
def word_similarity(one: str, other: str) -> float:
    """Return the cosine of two words; 0 for a word of which the embedder knows no part."""
    mine, theirs = _vector(one), _vector(other)
    return 0.0 if mine is None or theirs is None else float(mine @ theirs)


@cached_words(CACHED_WORDS, NUMBER_BYTES)
def word_weight(word: str) -> float:
    """Return how much a word says about its text, 0 to MAX_WEIGHT; about .1 for “the” and 1.1 for “boat”."""
    return min(MAX_WEIGHT, vector_length(word) / WEIGHT_LENGTH)


def sentence_vectors(sentences: list[str]) -> list[Vector | None]:
    """Return the unit vector of each sentence; None for one without a known word."""
    return list(embed(sentences))


@cached_words(CACHED_WORDS, SENTENCES_BYTES)
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
