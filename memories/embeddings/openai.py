"""An embedding model on any server that speaks OpenAI's embeddings: `POST <EMBEDDER_URL>/embeddings`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from django.conf import settings

from config.http.outbound.background_call import run_in_background
from config.http.outbound.client import (
    OutboundClient,
    OutboundRequestFailed,
    UnexpectedStatus,
    Unreachable,
    UnusableBody,
)
from config.http.outbound.ssrf import FOR_MODEL_SERVERS, AddressRefused
from memories.embeddings.base import (
    EmbedderFailed,
    EmbedderTimeout,
    UnknownEmbedder,
    Vector,
    seconds_left,
    unit_vectors,
)

MAX_BODY_BYTES = 20_000_000
REFUSED_STATUSES = {401, 403}
NOT_CONFIGURED = "No embedding server is configured. Set EMBEDDER_URL to its address, as in http://localhost:11434/v1."
GRACE_SECONDS = 0.02
"""For the thread that keeps the deadline to say so."""


def post_json(question: Mapping[str, Any], *, seconds: float) -> Any:
    """What the server answers, read as JSON, within so many seconds. Raises EmbedderFailed, EmbedderLate."""
    if not settings.EMBEDDER_URL:
        raise EmbedderFailed(NOT_CONFIGURED)
    if seconds <= 0:
        raise EmbedderTimeout("No time was left to ask the embedding server.")
    try:
        body = run_in_background(
            "embedding server", partial(_post, json.dumps(question), seconds), seconds=seconds + GRACE_SECONDS
        )
    except TimeoutError:
        raise EmbedderTimeout(f"The embedding server did not answer within {round(seconds * 1000):,} ms.") from None
    except (AddressRefused, Unreachable):
        raise EmbedderFailed("The embedding server could not be reached. Does it run at EMBEDDER_URL?") from None
    except UnexpectedStatus as failure:
        raise EmbedderFailed(_status_fault(failure.status)) from None
    except UnusableBody as failure:
        raise EmbedderFailed(f"The embedding server's answer {failure.problem}") from None
    except OutboundRequestFailed:
        raise EmbedderFailed("The embedding server broke off, or its answer is not HTTP.") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise EmbedderFailed("The embedding server's answer is not JSON.") from None


async def _post(body: str, seconds: float) -> bytes:
    async with OutboundClient.open(
        f"{settings.EMBEDDER_URL}/embeddings",
        allowed=FOR_MODEL_SERVERS,
        seconds=seconds,
        secret=settings.EMBEDDER_API_KEY,
        max_bytes=MAX_BODY_BYTES,
    ) as client:
        return await client.post_to_any(body)


def _status_fault(status: int) -> str:
    if status in REFUSED_STATUSES:
        return f"The embedding server answered {status}: it does not accept EMBEDDER_API_KEY."
    return f"The embedding server answered {status} instead of 200. See whether it has the model."


MAX_TEXTS = 64
"""Of one request."""
MAX_CHARACTERS = 6_000
"""Of a text. More than the beginning no model takes in, and servers refuse what is too long for theirs."""

NAME = re.compile(r"(?P<model>.+?)(?::(?P<dimensions>[1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True)
class OpenAI:
    """`openai:text-embedding-3-small`, or with dimensions that the server is asked for, `…:512`."""

    model: str
    requested_dimensions: int | None = None

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
        return f"openai:{self.model}" + (f":{self.requested_dimensions}" if self.requested_dimensions else "")

    @property
    def dimensions(self) -> int:
        """Those of the vector that it has for a word. Raises EmbedderFailed."""
        [vector] = self.embed(["word"])
        if vector is None:
            raise EmbedderFailed("The embedding server answered with a vector of zeros. Choose a model for embeddings.")
        return len(vector)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """None for a text without a character. Raises EmbedderFailed."""
        written = [text[:MAX_CHARACTERS] for text in texts if text[:MAX_CHARACTERS].strip()]
        vectors = iter([vector for group in _batches(written) for vector in self._embedded(group)])
        return [next(vectors) if text[:MAX_CHARACTERS].strip() else None for text in texts]

    def _embedded(self, texts: Sequence[str]) -> list[Vector | None]:
        question: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.requested_dimensions:
            question["dimensions"] = self.requested_dimensions
        # A question waits for one text, and somebody for the question.
        patience = settings.EMBEDDER_TIMEOUT_MS if len(texts) == 1 else settings.EMBEDDER_BATCH_TIMEOUT_MS
        rows = _vectors_of(post_json(question, seconds=seconds_left(patience / 1000)), len(texts))
        if self.requested_dimensions and rows.shape[1] != self.requested_dimensions:
            raise EmbedderFailed(
                f"The embedding server answered with {rows.shape[1]} dimensions instead of {self.requested_dimensions}."
                " Name the embedder without dimensions, or with those of the model."
            )
        return unit_vectors(rows)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(texts), MAX_TEXTS):
        yield texts[first : first + MAX_TEXTS]


def _vectors_of(answer: Any, number: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The vectors of an answer in the order of the texts. Raises EmbedderFailed."""
    try:
        items = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = np.array([items[place] for place in range(number)], dtype=np.float32)
    except (LookupError, TypeError, ValueError):
        raise EmbedderFailed("The embedding server's answer is JSON, but holds no vector for each text.") from None
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():  # noqa: PLR2004 - rows and columns
        raise EmbedderFailed("The embedding server's answer holds vectors that are none.")
    return rows
