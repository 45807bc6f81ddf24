"""A model on any server that speaks OpenAI's embeddings: `POST <EMBEDDER_URL>/embeddings`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from django.conf import settings

from memories.embedders.base import EmbedderFailed, UnknownEmbedder, Vector, unit_vectors
from memories.embedders.openai_server import answer_of
from memories.embedders.patience import seconds_to_wait

MOST_TEXTS = 64
"""Of one request."""
MOST_CHARACTERS = 6_000
"""Of a text. More than the beginning no model takes in, and servers refuse what is too long for theirs."""

NAME = re.compile(r"(?P<model>.+?)(?::(?P<dimensions>[1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True)
class OpenAI:
    """`openai:text-embedding-3-small`, or with dimensions that the server is asked for, `…:512`."""

    model: str
    asked_dimensions: int | None = None

    @classmethod
    def read(cls, name: str) -> Self:
        """The one with that model. Raises UnknownEmbedder without one."""
        parts = NAME.fullmatch(name)
        if parts is None:
            raise UnknownEmbedder("Name the model as well, as in openai:text-embedding-3-small.")
        return cls(parts["model"], int(parts["dimensions"]) if parts["dimensions"] else None)

    @property
    def name(self) -> str:
        """Its kind, its model, and the dimensions where they are asked for."""
        return f"openai:{self.model}" + (f":{self.asked_dimensions}" if self.asked_dimensions else "")

    @property
    def dimensions(self) -> int:
        """Those of the vector that it has for a word. Raises EmbedderFailed."""
        [vector] = self.embed(["word"])
        if vector is None:
            raise EmbedderFailed("The embedding server answered with a vector of zeros. Choose a model for embeddings.")
        return len(vector)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """None for a text without a character. Raises EmbedderFailed."""
        written = [text[:MOST_CHARACTERS] for text in texts if text[:MOST_CHARACTERS].strip()]
        vectors = iter([vector for group in _groups(written) for vector in self._embedded(group)])
        return [next(vectors) if text[:MOST_CHARACTERS].strip() else None for text in texts]

    def _embedded(self, texts: Sequence[str]) -> list[Vector | None]:
        question: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.asked_dimensions:
            question["dimensions"] = self.asked_dimensions
        # A question waits for one text, and somebody for the question.
        patience = settings.EMBEDDER_TIMEOUT_MS if len(texts) == 1 else settings.EMBEDDER_BATCH_TIMEOUT_MS
        rows = _rows_of(answer_of(question, seconds=seconds_to_wait(patience / 1000)), len(texts))
        if self.asked_dimensions and rows.shape[1] != self.asked_dimensions:
            raise EmbedderFailed(
                f"The embedding server answered with {rows.shape[1]} dimensions instead of {self.asked_dimensions}."
                " Name the embedder without dimensions, or with those of the model."
            )
        return unit_vectors(rows)


def _groups(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(texts), MOST_TEXTS):
        yield texts[first : first + MOST_TEXTS]


def _rows_of(answer: Any, number: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The vectors of an answer in the order of the texts. Raises EmbedderFailed."""
    try:
        items = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = np.array([items[place] for place in range(number)], dtype=np.float32)
    except (LookupError, TypeError, ValueError):
        raise EmbedderFailed("The embedding server's answer is JSON, but holds no vector for each text.") from None
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():  # noqa: PLR2004 - rows and columns
        raise EmbedderFailed("The embedding server's answer holds vectors that are none.")
    return rows
