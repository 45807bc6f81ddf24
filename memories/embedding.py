"""The bundled model: texts to unit vectors, with the static 256-dimensional one that the package `wordllama` carries.

Nothing is fetched: the model's weights and tokenizer lie in the package, and downloads are disabled.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Encoding
    from wordllama.inference import WordLlamaInference

DIMENSIONS = 256
MODEL_NAME = "wordllama:256"

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


def embed_parts(texts: list[str], starts: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
    """Per text, a row of DIMENSIONS for each of its parts: a unit vector, or zeros where the model knows no token.

    A part goes from one start to the next; starts count characters and ascend. Each text is read once, which for
    sentences takes half the time of `embed`.
    """
    rows: dict[int, NDArray[np.float32]] = {}
    for places in _alike_in_length(texts):
        # The model knows words by the space before them, which a line break is not.
        lines = [texts[place].replace("\n", " ") for place in places]
        for place, read in zip(places, _model().tokenize(lines), strict=True):
            rows[place] = _part_directions(read, [*starts[place], len(texts[place])])
    return [rows[place] for place in range(len(texts))]


def _part_directions(read: "Encoding", bounds: list[int]) -> NDArray[np.float32]:
    matrix = _model().embedding
    ids = np.clip(np.array(read.ids, dtype=np.int64), 0, len(matrix) - 1)
    # Behind the last token, its group is filled up.
    last = sum(read.attention_mask)
    tokens = [*(_token_at(read, start, end, last) for start, end in pairwise(bounds)), last]
    # Sums, and no product of matrices: its threads would wait for each other when several requests want it at once.
    sums = np.zeros((len(bounds) - 1, DIMENSIONS), dtype=np.float32)
    for place, (first, end) in enumerate(pairwise(tokens)):
        sums[place] = matrix[ids[first:end]].sum(axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _token_at(read: "Encoding", start: int, end: int, otherwise: int) -> int:
    """The number of the first token that stands for one of the characters."""
    found = (read.char_to_token(character) for character in range(start, end))
    return next((token for token in found if token is not None), otherwise)


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
