"""The bundled embedder is a static model of 256 dimensions, which the Python package `wordllama` contains.

Nothing is downloaded: weights and tokenizer are in the package. Embedding needs no network and little time. Vectors of
64 or 128 dimensions take less space and find less.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from config.http.cpu_budget import check_cpu
from memories.embeddings.base import UnknownEmbedder, Vector, unit_vectors

if TYPE_CHECKING:
    from tokenizers import Encoding
    from wordllama.inference import WordLlamaInference

DIMENSIONS = 256
MODEL_NAME = "wordllama:256"

MAX_CHARACTERS = 40_000
"""The most characters of a text, or of a part of a text, that are embedded, and that are tokenized at once.

A mean of thousands of tokens hardly changes by more of them, and each token takes 200 bytes. Memories are shorter.
"""
BLOCK_TOKENS = 4_000
"""The number of tokens whose vectors are summed at once; their vectors take 4 MB."""

_loading = threading.Lock()


def embed(texts: list[str]) -> list[NDArray[np.float32] | None]:
    """Return one unit vector of DIMENSIONS per text; None for a text in which the model knows no token.

    The vector is the mean of the vectors of the tokens. Raises TooCostly.
    """
    directions: list[NDArray[np.float32] | None] = []
    for group in _batches([text[:MAX_CHARACTERS] for text in texts]):
        check_cpu()
        directions += map(_mean_vector, _model().tokenizer.encode_batch_fast(group, add_special_tokens=False))
    return directions


def _mean_vector(read: "Encoding") -> NDArray[np.float32] | None:
    return _unit_vector(_sum_vectors(_token_ids(read)) / np.float32(max(len(read), 1)))


def vector_length(word: str) -> float:
    """Return the length of the sum of the vectors of a word's tokens: the more a word tells of a text, the longer."""
    read = _model().tokenizer.encode(word, add_special_tokens=False)
    return float(np.linalg.norm(_sum_vectors(_token_ids(read))))


def embed_parts(texts: list[str], starts: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
    """Return for each text an array with a row of DIMENSIONS per part: a unit vector, or zeros without a known token.

    A part goes from one start to the next; starts are character positions and ascend. Each text is tokenized once,
    which for sentences takes half the time of `embed`. Raises TooCostly.
    """
    rows: list[NDArray[np.float32]] = []
    for text, mine in zip(texts, starts, strict=True):
        slices = [_part_vectors(*one) for one in _slices(text, [*mine, len(text)])]
        rows.append(np.concatenate(slices) if slices else np.zeros((0, DIMENSIONS), dtype=np.float32))
    return rows


def _slices(text: str, bounds: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Yield slices of the text, each of whole parts and at most MAX_CHARACTERS, with the bounds of the parts in the
    slice.

    A part that is longer is truncated.
    """
    first, begin, parts = 0, 0, len(bounds) - 1
    while first < parts:
        end = first + 1
        while end < parts and bounds[end + 1] - begin <= MAX_CHARACTERS:
            end += 1
        last = min(bounds[end], max(begin, bounds[first]) + MAX_CHARACTERS)
        yield text[begin:last], [min(bound, last) - begin for bound in bounds[first : end + 1]]
        first, begin = end, bounds[end]


def _part_vectors(text: str, bounds: list[int]) -> NDArray[np.float32]:
    check_cpu()
    # The model knows words by the space before them; a line break would hide it.
    [read] = _model().tokenize([text.replace("\n", " ")])
    ids = _token_ids(read)
    tokens = [*(_token_at(read, start, end, len(ids)) for start, end in pairwise(bounds)), len(ids)]
    sums = np.stack([_sum_vectors(ids[first:end]) for first, end in pairwise(tokens)])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _token_ids(read: "Encoding") -> NDArray[np.int64]:
    """Return the row numbers of the tokens in the model's matrix."""
    return np.clip(np.array(read.ids, dtype=np.int64), 0, len(_model().embedding) - 1)


def _sum_vectors(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the sum of the tokens' vectors, added one by one, so that the block size does not change any bit."""
    matrix = _model().embedding
    # Sums instead of a matrix product, because the product's threads would block each other in concurrent requests.
    total = np.zeros(DIMENSIONS, dtype=np.float32)
    for first in range(0, len(ids), BLOCK_TOKENS):
        check_cpu()
        block = matrix[ids[first : first + BLOCK_TOKENS]]
        block[0] += total
        total = block.sum(axis=0)
    return total


def _token_at(read: "Encoding", start: int, end: int, otherwise: int) -> int:
    """Return the index of the first token in the characters from `start` to `end`; `otherwise` where there is none."""
    found = (read.char_to_token(character) for character in range(start, end))
    return next((token for token in found if token is not None), otherwise)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    """Yield the texts in order, in groups of at most MAX_CHARACTERS together, which are tokenized at once."""
    group: list[str] = []
    characters = 0
    for text in texts:
        if group and characters + len(text) > MAX_CHARACTERS:
            yield group
            group, characters = [], 0
        group.append(text)
        characters += len(text)
    if group:
        yield group


def _unit_vector(vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
    length = np.linalg.norm(vector)
    return (vector / length).astype(np.float32) if np.isfinite(length) and length > 0 else None


def warm_up() -> None:
    """Load the model now, which takes about half a second, rather than in the first request."""
    _model()


def _model() -> "WordLlamaInference":
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> "WordLlamaInference":
    import wordllama  # noqa: PLC0415 - takes half a second, which commands without embeddings need not spend

    # With threads of its own the tokenizer is not faster, and its CPU time would not be counted for the request.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    model = wordllama.WordLlama.load(
        config="l2_supercat", dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    model.tokenizer.no_padding()  # padding to the longest text of a group would waste memory
    return model


TRAINED_DIMENSIONS = (64, 128, DIMENSIONS)
"""Dimensions for which the model was trained (Matryoshka embeddings): the first 64 or 128 values are a vector, too."""


@dataclass(frozen=True, slots=True)
class WordLlama:
    """The bundled embedder, named `wordllama`, `wordllama:64` or `wordllama:128`."""

    dimensions: int = DIMENSIONS

    @classmethod
    def read(cls, dimensions: str) -> Self:
        """Return the embedder with that many dimensions, 256 for an empty text. Raises UnknownEmbedder."""
        if dimensions and dimensions not in {str(known) for known in TRAINED_DIMENSIONS}:
            known = ", ".join(f"wordllama:{known}" for known in TRAINED_DIMENSIONS)
            raise UnknownEmbedder(f"There is no embedder “wordllama:{dimensions}”. Use one of {known}.")
        return cls(int(dimensions or DIMENSIONS))

    @property
    def name(self) -> str:
        """The name of the embedder: `wordllama:` and its dimensions."""
        return f"wordllama:{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit vector per text; None for a text in which the model knows no token."""
        vectors = embed(list(texts))
        if self.dimensions == DIMENSIONS:
            return vectors
        known = iter(unit_vectors(vector[: self.dimensions] for vector in vectors if vector is not None))
        return [None if vector is None else next(known) for vector in vectors]
