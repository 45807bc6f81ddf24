"""Nearness decides which texts are compared for conflicts: those near in meaning, or with a sentence near to one.

The vectors of sentences are those of the bundled static embedder, whatever embedder made the cosine of whole texts.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from assembly.conflicts.detection.caches import cached_texts
from assembly.conflicts.detection.lexicon import stem
from assembly.conflicts.detection.text_statements import whole_sentences
from assembly.conflicts.detection.word_alignment import sentence_vectors, word_weight
from assembly.engine.query_signals import STOP_WORDS

MIN_SIMILARITY, MIN_LINE_SIMILARITY = 0.5, 0.3
"""The least cosine of texts that are compared whatever their words, and of a note and a line with a common word."""
LEAST_SIMILARITY, MAX_SHORT, LEAST_SHARED = 0.2, 300, 2
"""The least cosine, the most characters, and the least common words of texts that are compared for their words."""
MAX_SENTENCES = 24
"""The most sentences of a text that are looked at, from its beginning."""
MAX_WORDS, MAX_WORDS_OF_SENTENCE, MAX_SEARCHED_SENTENCES = 6, 4, 12
"""The most words by which other texts are searched for: of a short text, of a sentence of a long one, and the most
sentences."""
FURTHER_RATIO = 3
"""How many texts that were found by words are looked at more closely for each that is compared."""
MAX_LETTERS = 40
MAX_CACHE_BYTES, MAX_SENTENCES_BYTES = 4_000_000, 8_000_000
SENTENCE_BYTES = 2_400
"""Approximate bytes of memory of the stems and the vector of a sentence."""
ENTRY_BYTES, BYTES_PER_CHARACTER = 800, 16
"""Approximate bytes of memory of the stems of a text: in all, and for each character."""

_WORD = re.compile(r"[^\W_]{2,}")


def may_share_subject(text: str, names: frozenset[str], other: str, other_names: frozenset[str]) -> bool:
    """Return whether two texts may be about the same thing; names are those of entities, in lower case.

    Two entities are so only if they share a name, because the properties of different things differ; an entity and a
    text only if the text names the entity.
    """
    if names and other_names:
        return not names.isdisjoint(other_names)
    said = " ".join((other if names else text).lower().split())
    return not (known := names or other_names) or any(name in said for name in known)


def is_near(text: str, other: str, cosine: float) -> bool:
    """Return whether two texts are compared; the cosine is that of both as wholes."""
    return nearness(text, other, cosine) > 0


def nearness(text: str, other: str, cosine: float) -> float:
    """Return how near two texts are, 0 to 1: the cosine of both, or of a sentence of each; 0 if they are not compared.

    Texts and sentences are near in meaning, or they share words with a meaning: one name or number changes the vector
    of a short text much, as in “Tom lives in Bergen”, “Tom lives in Trondheim”. The vector of a long text says little
    about a single line, so that a short one is compared with each of its sentences. Two long ones are near only as
    wholes: among so many pairs of sentences, some share words by chance.
    """
    if cosine >= MIN_SIMILARITY:
        return cosine
    if is_short(text) and is_short(other):
        is_worded = cosine >= LEAST_SIMILARITY and len(words_of(text) & words_of(other)) >= LEAST_SHARED
        return cosine if is_worded else 0.0
    if not (is_short(text) or is_short(other)):
        return 0.0
    mine, theirs = _sentences_of(text), _sentences_of(other)
    if not mine.words or not theirs.words:
        return 0.0
    cosines = mine.vectors @ theirs.vectors.T
    return max(_near_cosines(mine.words, theirs.words, cosines), default=0.0)


def _near_cosines(
    mine: Sequence[frozenset[str]], theirs: Sequence[frozenset[str]], cosines: np.ndarray
) -> Iterator[float]:
    for row, column in np.argwhere(cosines >= LEAST_SIMILARITY).tolist():
        cosine = float(cosines[row, column])
        shared = len(mine[row] & theirs[column])
        if shared >= LEAST_SHARED or (shared and cosine >= MIN_LINE_SIMILARITY):
            yield min(1.0, cosine)


def is_short(text: str) -> bool:
    """Return whether a text is a note of one line."""
    return len(text) <= MAX_SHORT and "\n" not in text.strip()


def heaviest_words(text: str, most: int = MAX_WORDS) -> list[str]:
    """Return the words that say most about a text, at most `most`, in lower case, the heaviest first."""
    words = dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
    return sorted(words, key=lambda word: (-word_weight(word), word))[:most]


def searched_pairs(text: str) -> list[tuple[str, str]]:
    """Return pairs of words by which other texts are searched for: texts that have both words of a pair.

    Both are among the heaviest words of a short text, or of a sentence of a long one.
    """
    if is_short(text):
        groups = [heaviest_words(text)]
    else:
        sentences = [heaviest_words(sentence, MAX_WORDS_OF_SENTENCE) for sentence in _pieces(text)]
        groups = [words for words in sentences if len(words) >= LEAST_SHARED][:MAX_SEARCHED_SENTENCES]
    pairs = (combination for words in groups for combination in combinations(sorted(words), 2))
    return list(dict.fromkeys(pairs))


def _pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in islice(whole_sentences(text), MAX_SENTENCES)]


class _Sentences(NamedTuple):
    """The sentences of a text, in order: the stems of their words, and a row with the vector of each."""

    words: list[frozenset[str]]
    vectors: np.ndarray


def _sentences_bytes(text: str) -> int:
    return SENTENCE_BYTES * min(MAX_SENTENCES, 2 + len(text) // 40) + BYTES_PER_CHARACTER * len(text)


@cached_texts(MAX_SENTENCES_BYTES, _sentences_bytes)
def _sentences_of(text: str) -> _Sentences:
    pieces = _pieces(text)
    found = [
        (words_of(piece), row) for piece, row in zip(pieces, sentence_vectors(pieces), strict=True) if row is not None
    ]
    return _Sentences([words for words, _ in found], np.array([row for _, row in found]))


def _words_bytes(text: str) -> int:
    return ENTRY_BYTES + BYTES_PER_CHARACTER * len(text)


@cached_texts(MAX_CACHE_BYTES, _words_bytes)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words with a meaning, and the numbers; the stems are English ones in any language."""
    words = {word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS}
    return frozenset(stem(word, "english") for word in words if len(word) <= MAX_LETTERS)
