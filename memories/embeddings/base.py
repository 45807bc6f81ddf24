"""An embedder turns texts into vectors. Here are its interface, its errors and the deadline for servers."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from config.http.errors import DossierError

_DEADLINE: ContextVar[float] = ContextVar("embedder_until", default=math.inf)


@contextmanager
def embedder_deadline(seconds: float) -> Iterator[None]:
    """Limit the time that the block waits in total for embedders on servers; a shorter outer limit still applies."""
    token = _DEADLINE.set(min(_DEADLINE.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left(most: float) -> float:
    """Return the seconds until the deadline of embedders, but at most `most`; 0 after the deadline."""
    return max(0.0, min(most, _DEADLINE.get() - monotonic()))


MAX_DIMENSIONS = 4_000
"""The most dimensions that pgvector can index in half precision: https://github.com/pgvector/pgvector#hnsw."""

Vector = NDArray[np.float32]
"""The unit vector of one text."""


class Embedder(Protocol):
    """The interface of embedders: an embedder turns texts into vectors; embedders of equal names make equal vectors."""

    @property
    def name(self) -> str:
        """The unique name of the embedder: its kind and its options, as in wordllama:256."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vectors. Raises EmbedderFailed where a server has to be asked and does not
        answer.
        """

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit vector per text; None for a text in which nothing is known. Raises EmbedderFailed."""


class UnknownEmbedder(DossierError):
    """Raised where no embedder has the requested name."""

    status = 422
    code = "unknown_embedder"
    title = "Unknown embedder"


class EmbedderFailed(DossierError):
    """Raised where an embedder made no vectors; the message says why."""

    status = 503
    code = "embedder_failed"
    title = "The embedder does not answer"


class EmbedderTimeout(EmbedderFailed):
    """Raised where an embedder did not answer within its time."""


def unit_vectors(rows: Iterable[NDArray[np.floating]]) -> list[Vector | None]:
    """Return each row as a vector of length 1; None for a row of zeros or with values that are not finite."""
    return [_unit(np.asarray(row, dtype=np.float32)) for row in rows]


def _unit(row: Vector) -> Vector | None:
    length = np.linalg.norm(row)
    return (row / length).astype(np.float32) if np.isfinite(length) and length > 0 else None
