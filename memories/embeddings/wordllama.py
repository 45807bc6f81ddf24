"""The bundled model: texts to unit vectors, with the static 256-dimensional one that the package `wordllama` carries.

Nothing is fetched: the model's weights and tokenizer lie in the package, and downloads are disabled.

The bundled model: static, needs neither network nor time. Fewer dimensions take less room, and find less.
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
"""Characters of a text, or of one of its parts, that are embedded, and that are made tokens of at once.

More gives the mean of thousands of tokens no other direction, and tokens take 200 bytes each. Memories are shorter."""
BLOCK_TOKENS = 4_000
"""Tokens whose vectors are summed at once: 4 MB."""

_loading = threading.Lock()


def embed(texts: list[str]) -> list[NDArray[np.float32] | None]:
    """One unit vector of DIMENSIONS per text; None for a text in which the model knows no token.

    The model averages the vectors of its tokens; where there is none, there is no direction to compare.
    Raises TooCostly.
    """
    directions: list[NDArray[np.float32] | None] = []
    for group in _batches([text[:MAX_CHARACTERS] for text in texts]):
        check_cpu()
        directions += map(_mean_vector, _model().tokenizer.encode_batch_fast(group, add_special_tokens=False))
    return directions


def _mean_vector(read: "Encoding") -> NDArray[np.float32] | None:
    return _unit_vector(_sum_vectors(_token_ids(read)) / np.float32(max(len(read), 1)))


def embed_parts(texts: list[str], starts: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
    """Per text, a row of DIMENSIONS for each of its parts: a unit vector, or zeros where the model knows no token.

    A part goes from one start to the next; starts count characters and ascend. Each text is read once, which for
    sentences takes half the time of `embed`. Raises TooCostly.
    """
    rows: list[NDArray[np.float32]] = []
    for text, mine in zip(texts, starts, strict=True):
        slices = [_part_vectors(*one) for one in _slices(text, [*mine, len(text)])]
        rows.append(np.concatenate(slices) if slices else np.zeros((0, DIMENSIONS), dtype=np.float32))
    return rows


def _slices(text: str, bounds: list[int]) -> Iterator[tuple[str, list[int]]]:
    """The text in slices of whole parts and of at most MOST_CHARACTERS, each with the bounds of its parts in it.

    Of a part that is longer, the slice holds the beginning.
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
    # The model knows words by the space before them, which a line break is not.
    [read] = _model().tokenize([text.replace("\n", " ")])
    ids = _token_ids(read)
    tokens = [*(_token_at(read, start, end, len(ids)) for start, end in pairwise(bounds)), len(ids)]
    sums = np.stack([_sum_vectors(ids[first:end]) for first, end in pairwise(tokens)])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def _token_ids(read: "Encoding") -> NDArray[np.int64]:
    """The rows of the model's matrix that the tokens stand for."""
    return np.clip(np.array(read.ids, dtype=np.int64), 0, len(_model().embedding) - 1)


def _sum_vectors(ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The sum of the tokens' vectors, one added after the other: in whatever blocks, the same to the last bit."""
    matrix = _model().embedding
    # Sums, and no product of matrices: its threads would wait for each other when several requests want it at once.
    total = np.zeros(DIMENSIONS, dtype=np.float32)
    for first in range(0, len(ids), BLOCK_TOKENS):
        check_cpu()
        block = matrix[ids[first : first + BLOCK_TOKENS]]
        block[0] += total
        total = block.sum(axis=0)
    return total


def _token_at(read: "Encoding", start: int, end: int, otherwise: int) -> int:
    """The number of the first token that stands for one of the characters."""
    found = (read.char_to_token(character) for character in range(start, end))
    return next((token for token in found if token is not None), otherwise)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    """The texts in their order, in groups of MOST_CHARACTERS together, which are made tokens of at once."""
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
    """Load the model now (about half a second) rather than within the first request."""
    _model()


def _model() -> "WordLlamaInference":
    with _loading:
        return _load()


@lru_cache(maxsize=1)
def _load() -> "WordLlamaInference":
    import wordllama  # noqa: PLC0415 - half a second that commands without embeddings need not spend

    # In threads of its own the tokenizer takes as long, and whoever asked would not be charged for it.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    model = wordllama.WordLlama.load(
        config="l2_supercat", dim=DIMENSIONS, cache_dir=Path(wordllama.__file__).parent, disable_download=True
    )
    model.tokenizer.no_padding()  # to the longest text of a group, which would take memory for nothing
    return model


TRAINED_DIMENSIONS = (64, 128, DIMENSIONS)
"""The first so many numbers of its vectors are vectors as well: it was trained so (Matryoshka embeddings)."""


@dataclass(frozen=True, slots=True)
class WordLlama:
    """`wordllama`, `wordllama:64`, `wordllama:128`."""

    dimensions: int = DIMENSIONS

    @classmethod
    def read(cls, dimensions: str) -> Self:
        """The one with so many dimensions, 256 unless given. Raises UnknownEmbedder."""
        if dimensions and dimensions not in {str(known) for known in TRAINED_DIMENSIONS}:
            known = ", ".join(f"wordllama:{known}" for known in TRAINED_DIMENSIONS)
            raise UnknownEmbedder(f"There is no embedder “wordllama:{dimensions}”. Use one of {known}.")
        return cls(int(dimensions or DIMENSIONS))

    @property
    def name(self) -> str:
        """The bundled model's own name, and its dimensions."""
        return f"wordllama:{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """None for a text in which the model knows no token."""
        vectors = embed(list(texts))
        if self.dimensions == DIMENSIONS:
            return vectors
        known = iter(unit_vectors(vector[: self.dimensions] for vector in vectors if vector is not None))
        return [None if vector is None else next(known) for vector in vectors]
