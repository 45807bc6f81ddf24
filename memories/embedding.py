"""Embeddings: texts to unit vectors, with the static 256-dimensional model that the package `wordllama` carries.

Nothing is fetched: the model's weights and tokenizer lie in the package, and downloads are disabled.
"""

import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from wordllama.inference import WordLlamaInference

DIMENSIONS = 256
MODEL_NAME = "wordllama:l2_supercat_256"

GROUP_CHARACTERS = 100_000

_loading = threading.Lock()


def embed(texts: list[str]) -> list[NDArray[np.float32] | None]:
    """One unit vector of DIMENSIONS per text; None for a text in which the model knows no token.

    The model averages the vectors of its tokens; where there is none, there is no direction to compare.
    """
    directions: dict[int, NDArray[np.float32] | None] = {}
    for places in _alike_in_length(texts):
        vectors = _model().embed([texts[place] for place in places], norm=False)
        directions |= dict(zip(places, map(_direction, vectors), strict=True))
    return [directions[place] for place in range(len(texts))]


def _alike_in_length(texts: list[str]) -> Iterator[list[int]]:
    """The places of the texts in groups: the model fills up all texts of a group to the longest, which takes memory."""
    group: list[int] = []
    for place in sorted(range(len(texts)), key=lambda place: len(texts[place])):
        if group and (len(group) + 1) * len(texts[place]) > GROUP_CHARACTERS:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _direction(vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
    length = np.linalg.norm(vector)
    return (vector / length).astype(np.float32) if np.isfinite(length) and length > 0 else None


def warm_up() -> None:
    """Load the model now (about half a second) rather than within the first request."""
    _model()


def _model() -> "WordLlamaInference":
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> "WordLlamaInference":
    import wordllama  # noqa: PLC0415 - half a second that commands without embeddings need not spend

    return wordllama.WordLlama.load(
        config="l2_supercat", dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
