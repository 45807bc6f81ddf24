"""The embedder OpenAI asks a server that implements OpenAI's embeddings API: `POST <EMBEDDER_URL>/embeddings`."""

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
"""Time beyond the deadline for the background thread to report that the deadline has passed."""


def post_json(question: Mapping[str, Any], *, seconds: float) -> Any:
    """Return the parsed JSON response of the embedding server to this request body, waiting at most `seconds`.

    Raises EmbedderFailed, and EmbedderTimeout where there was no response in time.
    """
    if not settings.EMBEDDER_URL:
        raise EmbedderFailed(NOT_CONFIGURED)
    if seconds <= 0:
        raise EmbedderTimeout("The time was too short to query the embedding server.")
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
"""The most texts in one request."""
MAX_CHARACTERS = 6_000
"""The characters of a text that are sent. Models use only the beginning of longer texts, and servers refuse them."""

NAME = re.compile(r"(?P<model>.+?)(?::(?P<dimensions>[1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True)
class OpenAI:
    """An embedder on a server, named like `openai:text-embedding-3-small`, or with dimensions like `…-small:512`."""

    model: str
    requested_dimensions: int | None = None

    @classmethod
    def read(cls, name: str) -> Self:
        """Return the embedder with that model, and dimensions after a colon. Raises UnknownEmbedder without a model."""
        parts = NAME.fullmatch(name)
        if parts is None:
            raise UnknownEmbedder("Name the model as well, as in openai:text-embedding-3-small.")
        return cls(parts["model"], int(parts["dimensions"]) if parts["dimensions"] else None)

    @property
    def name(self) -> str:
        """The name of the embedder: `openai:`, its model and, where they are requested, the dimensions."""
        return f"openai:{self.model}" + (f":{self.requested_dimensions}" if self.requested_dimensions else "")

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the vector that the server returns for a word. Raises EmbedderFailed."""
        [vector] = self.embed(["word"])
        if vector is None:
            raise EmbedderFailed("The embedding server answered with a vector of zeros. Choose a model for embeddings.")
        return len(vector)

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one unit vector per text; None for a blank text. Raises EmbedderFailed."""
        written = [text[:MAX_CHARACTERS] for text in texts if text[:MAX_CHARACTERS].strip()]
        vectors = iter([vector for group in _batches(written) for vector in self._embedded(group)])
        return [next(vectors) if text[:MAX_CHARACTERS].strip() else None for text in texts]

    def _embedded(self, texts: Sequence[str]) -> list[Vector | None]:
        question: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.requested_dimensions:
            question["dimensions"] = self.requested_dimensions
        # A single text is a query, for which somebody waits; more texts are a batch, which may take longer.
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
    """Return the vectors of a server's response in the order of the texts. Raises EmbedderFailed."""
    try:
        items = {item["index"]: item["embedding"] for item in answer["data"]}
        rows = np.array([items[place] for place in range(number)], dtype=np.float32)
    except (LookupError, TypeError, ValueError):
        raise EmbedderFailed("The embedding server's answer is JSON, but has no vector for each text.") from None
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():  # noqa: PLR2004 - rows and columns
        raise EmbedderFailed("The embedding server's answer has invalid vectors.")
    return rows
