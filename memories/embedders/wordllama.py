"""The bundled model: static, needs neither network nor time. Fewer dimensions take less room, and find less."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from memories.embedders.base import UnknownEmbedder, Vector, unit_vectors
from memories.embedding import DIMENSIONS, embed

TRAINED = (64, 128, DIMENSIONS)
"""The first so many numbers of its vectors are vectors as well: it was trained so (Matryoshka embeddings)."""


@dataclass(frozen=True, slots=True)
class WordLlama:
    """`wordllama`, `wordllama:64`, `wordllama:128`."""

    dimensions: int = DIMENSIONS

    @classmethod
    def read(cls, dimensions: str) -> Self:
        """The one with so many dimensions, 256 unless given. Raises UnknownEmbedder."""
        if dimensions and dimensions not in {str(known) for known in TRAINED}:
            known = ", ".join(f"wordllama:{known}" for known in TRAINED)
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
