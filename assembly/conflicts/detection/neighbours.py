"""Neighbours are the pairs of texts of a whole corpus that workers compare: each text with those nearest in meaning.

Nearly all of them are unrelated, so they tell how many pairs detection calls a conflict by mistake, and teach it which
ones it should not. Nothing here needs a database.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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


def may_share_subject(text: str, names: frozenset[str], other: str, other_names: frozenset[str]) -> bool:
    """Return whether two texts may be about the same thing; names are those of entities, in lower case.

    Two entities are so only if they share a name, because the properties of different things differ; an entity and a
    text only if the text names the entity.
    """
    if names and other_names:
        return not names.isdisjoint(other_names)
    said = " ".join((other if names else text).lower().split())
    return not (known := names or other_names) or any(name in said for name in known)


def find_neighbours(texts: Sequence[CorpusText], embedder: Embedder, *, floor: float, nearest: int) -> list[Neighbours]:
    """Return the pairs of texts that workers compare: each with the `nearest` ones of a cosine of at least `floor`."""
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
            if cosines[other] >= floor and may_share_subject(text.text, text.names, theirs.text, theirs.names):
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
