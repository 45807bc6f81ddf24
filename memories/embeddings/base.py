"""How long the request at hand waits for vectors of a server: what has a deadline of its own waits no longer.

What an embedder is, and what can be wrong with one.
"""

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
    """Within the block, embedders on servers are waited for so long in all, or as long as is said around it."""
    token = _DEADLINE.set(min(_DEADLINE.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def seconds_left(most: float) -> float:
    """What is left of the time, and at most so much; nothing, once it is over."""
    return max(0.0, min(most, _DEADLINE.get() - monotonic()))


MAX_DIMENSIONS = 4_000
"""More, pgvector cannot index: https://github.com/pgvector/pgvector#hnsw, of half precision."""

Vector = NDArray[np.float32]
"""Of one text: a unit vector."""


class Embedder(Protocol):
    """Turns texts into vectors of one space: equal names give equal vectors."""

    @property
    def name(self) -> str:
        """By which it is found again: its kind and what tells it from others of the kind, as in wordllama:256."""

    @property
    def dimensions(self) -> int:
        """Of its vectors. Raises EmbedderFailed where it has to be asked and does not answer."""

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """A unit vector per text; None for one in which it finds nothing that it knows. Raises EmbedderFailed."""


class UnknownEmbedder(DossierError):
    """There is none with this name."""

    status = 422
    code = "unknown_embedder"
    title = "There is no such embedder"


class EmbedderFailed(DossierError):
    """The embedder gave no vectors. The message says why, in plain words."""

    status = 503
    code = "embedder_failed"
    title = "The embedder does not answer"


class EmbedderTimeout(EmbedderFailed):
    """It did not answer in the time that it had."""


def unit_vectors(rows: Iterable[NDArray[np.floating]]) -> list[Vector | None]:
    """Each row as long as 1; None for a row without a direction."""
    return [_unit(np.asarray(row, dtype=np.float32)) for row in rows]


def _unit(row: Vector) -> Vector | None:
    length = np.linalg.norm(row)
    return (row / length).astype(np.float32) if np.isfinite(length) and length > 0 else None
