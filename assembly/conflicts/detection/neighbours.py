"""Neighbours are the pairs of texts of a whole corpus that workers compare: each text with those that are near.

Nearly all of them are unrelated, so they tell how many pairs detection calls a conflict by mistake, and teach it which
ones it should not. Nothing here needs a database.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assembly.conflicts.detection.nearness import (
    FURTHER_RATIO,
    may_share_subject,
    nearness,
    searched_pairs,
    words_of,
)
from memories.embeddings.base import Embedder


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


def find_neighbours(texts: Sequence[CorpusText], embedder: Embedder, *, nearest: int, further: int) -> list[Neighbours]:
    """Return the pairs of texts that workers compare: each with those that are near among the `nearest` ones.

    Up to `further` more are near by a line; those with two of its heavy words are among them.
    """
    vectors = _vectors(texts, embedder)
    items, owners = np.array([text.item for text in texts]), np.array([text.owner for text in texts])
    with_word = _texts_with_words(texts)
    within: dict[frozenset[str], np.ndarray] = {}
    pairs: dict[tuple[int, int], float] = {}
    for index, text in enumerate(texts):
        if text.reach not in within:
            within[text.reach] = np.isin(owners, list(text.reach))
        cosines = np.where(within[text.reach] & (items != text.item), vectors @ vectors[index], -1.0)
        order = np.argsort(-cosines, kind="stable").tolist()

        def closeness(other: int, text: CorpusText = text, cosines: np.ndarray = cosines) -> float:
            return nearness(text.text, texts[other].text, float(cosines[other]))

        near = order[:nearest]
        having = {one for pair in searched_pairs(text.text) for one in _with_both(with_word, *pair)}
        reached = [other for other in order[nearest:] if cosines[other] > -1]
        worded = [other for other in reached if other in having][: FURTHER_RATIO * further]
        found = {*worded, *reached[: FURTHER_RATIO * further]}
        near += sorted(found, key=lambda other: (-closeness(other), other))[:further]
        for other in near:
            theirs = texts[other]
            if closeness(other) > 0 and may_share_subject(text.text, text.names, theirs.text, theirs.names):
                pairs[min(index, other), max(index, other)] = min(1.0, float(cosines[other]))
    return [Neighbours(texts[one].text, texts[other].text, cosine) for (one, other), cosine in sorted(pairs.items())]


def _texts_with_words(texts: Sequence[CorpusText]) -> Mapping[str, set[int]]:
    """Return by each stem the indices of the texts that have it."""
    having: dict[str, set[int]] = {}
    for index, text in enumerate(texts):
        for word in words_of(text.text):
            having.setdefault(word, set()).add(index)
    return having


def _with_both(having: Mapping[str, set[int]], one: str, other: str) -> set[int]:
    stems = words_of(f"{one} {other}")
    return set.intersection(*(having.get(word, set()) for word in stems)) if len(stems) > 1 else set()


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
