"""Neighbours are the pairs of texts of a whole corpus that workers compare: each text with those nearest in meaning.

Nearly all of them are unrelated, so they tell how many pairs detection calls a conflict by mistake, and teach it which
ones it should not. Nothing here needs a database.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from assembly.conflicts.detection.lexicon import stem
from assembly.conflicts.detection.word_alignment import word_weight
from assembly.engine.query_signals import STOP_WORDS
from memories.embeddings.base import Embedder

MIN_SIMILARITY = 0.5
"""The least cosine of texts that are compared whatever their words."""
LEAST_SIMILARITY, MAX_SHORT, LEAST_SHARED = 0.2, 300, 2
"""The least cosine, the most characters, and the least common words of texts that are compared for their words."""
MAX_WORDS = 6
"""The most words of a text by which others are searched for."""
CACHED_TEXTS, MAX_LETTERS = 4_096, 40

_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A text with what decides about the texts with which it is compared."""

    text: str
    item: str
    """This names what the text is a part of; texts of one item are not compared."""
    owner: str = ""
    reach: frozenset[str] = frozenset(("",))
    """The owners with whose texts it is compared."""
    names: frozenset[str] = frozenset()
    """The names of an entity, in lower case."""
    vector: tuple[float, ...] | None = None
    """The stored vector; None: the text is embedded."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two texts that workers compare, and the cosine of their embeddings, 0 to 1."""

    left: str
    right: str
    similarity: float


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
    """Return whether two texts are compared: they are near in meaning, or short and share words with a meaning.

    One name or number changes the vector of a short text much: “Tom lives in Bergen”, “Tom lives in Trondheim”. Long
    texts share words in any case.
    """
    if cosine >= MIN_SIMILARITY:
        return True
    if cosine < LEAST_SIMILARITY or not (is_short(text) and is_short(other)):
        return False
    return len(words_of(text) & words_of(other)) >= LEAST_SHARED


def is_short(text: str) -> bool:
    """Return whether a text is a note of one line."""
    return len(text) <= MAX_SHORT and "\n" not in text.strip()


def heaviest_words(text: str) -> list[str]:
    """Return the words that say most about a text, at most MAX_WORDS, in lower case, the heaviest first."""
    words = dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
    return sorted(words, key=lambda word: (-word_weight(word), word))[:MAX_WORDS]


@lru_cache(CACHED_TEXTS)
def words_of(text: str) -> frozenset[str]:
    """Return the stems of the words with a meaning, and the numbers; the stems are English ones in any language."""
    words = {word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS}
    return frozenset(stem(word, "english") for word in words if len(word) <= MAX_LETTERS)


def find_neighbours(texts: Sequence[CorpusText], embedder: Embedder, *, nearest: int) -> list[Neighbours]:
    """Return the pairs of texts that workers compare: each with those that are near among the `nearest` ones."""
    vectors = _vectors(texts, embedder)
    items, owners = np.array([text.item for text in texts]), np.array([text.owner for text in texts])
    within: dict[frozenset[str], np.ndarray] = {}
    pairs: dict[tuple[int, int], float] = {}
    for index, text in enumerate(texts):
        if text.reach not in within:
            within[text.reach] = np.isin(owners, list(text.reach))
        cosines = np.where(within[text.reach] & (items != text.item), vectors @ vectors[index], -1.0)
        for other in np.argsort(-cosines, kind="stable")[:nearest].tolist():
            theirs = texts[other]
            if is_near(text.text, theirs.text, float(cosines[other])) and may_share_subject(
                text.text, text.names, theirs.text, theirs.names
            ):
                pairs[min(index, other), max(index, other)] = min(1.0, float(cosines[other]))
    return [Neighbours(texts[one].text, texts[other].text, cosine) for (one, other), cosine in sorted(pairs.items())]


def load_corpus(path: Path) -> list[CorpusText]:
    """Return the texts of a file with a JSON object per line: `text`, and `item`, what it is a part of.

    Raises ValueError that names the file and the line that is wrong.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            facts = json.loads(line)
            found.append(CorpusText(str(facts["text"]), str(facts["item"])))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"Line {number} of {path.name} is no JSON object with text and item ({error!r})."
            ) from error
    return found


def _vectors(texts: Sequence[CorpusText], embedder: Embedder) -> np.ndarray:
    """Return a row per text; of a text without a known word, zeros."""
    embedded = iter(embedder.embed([text.text for text in texts if text.vector is None]))
    rows = [next(embedded) if text.vector is None else np.array(text.vector) for text in texts]
    return np.array([np.zeros(embedder.dimensions) if row is None else row for row in rows])
