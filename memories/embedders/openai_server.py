"""One request to the embedding server: no redirects, no proxies of the environment, bounds on size and time."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any

import httpx2
from django.conf import settings

from config.http.beside import Beside
from memories.embedders.base import EmbedderFailed, EmbedderLate

MAX_BODY_BYTES = 20_000_000
OK = 200
REFUSALS = {401, 403}
NOT_CONFIGURED = "No embedding server is configured. Set EMBEDDER_URL to its address, as in http://localhost:11434/v1."
GRACE_SECONDS = 0.02
"""For the thread that keeps the deadline to say so."""


def answer_of(question: Mapping[str, Any], *, seconds: float) -> Any:
    """What the server answers, read as JSON, within so many seconds. Raises EmbedderFailed, EmbedderLate."""
    if not settings.EMBEDDER_URL:
        raise EmbedderFailed(NOT_CONFIGURED)
    if seconds <= 0:
        raise EmbedderLate("No time was left to ask the embedding server.")
    try:
        body = _body_in_time(question, seconds)
    except TimeoutError:
        raise EmbedderLate(f"The embedding server did not answer within {round(seconds * 1000):,} ms.") from None
    except httpx2.ConnectError:
        raise EmbedderFailed("The embedding server could not be reached. Does it run at EMBEDDER_URL?") from None
    except httpx2.TransportError:
        raise EmbedderFailed("The embedding server broke off, or its answer is not HTTP.") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise EmbedderFailed("The embedding server's answer is not JSON.") from None


def _body_in_time(question: Mapping[str, Any], seconds: float) -> bytes:
    """The answer's body. Raises TimeoutError.

    In a thread, which nobody waits for any longer: a name server that hangs cannot be broken off, all else is closed.
    """
    thread = Beside("embedding server", lambda: asyncio.run(_body_of(question, seconds)))
    return thread.result(seconds=seconds + GRACE_SECONDS)


async def _body_of(question: Mapping[str, Any], seconds: float) -> bytes:
    client = httpx2.AsyncClient(
        verify=_tls(), trust_env=False, follow_redirects=False, timeout=None, headers=_headers()
    )
    address, content = f"{settings.EMBEDDER_URL}/embeddings", json.dumps(question)
    body = bytearray()
    async with asyncio.timeout(seconds), client, client.stream("POST", address, content=content) as response:
        _check(response.status_code)
        async for part in response.aiter_raw():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise EmbedderFailed(f"The embedding server's answer is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


def _check(status: int) -> None:
    if status in REFUSALS:
        raise EmbedderFailed(f"The embedding server answered {status}: it does not accept EMBEDDER_API_KEY.")
    if status != OK:
        raise EmbedderFailed(f"The embedding server answered {status} instead of 200. See whether it has the model.")


def _headers() -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
    }
    key = settings.EMBEDDER_API_KEY
    return headers | {"Authorization": f"Bearer {key}"} if key else headers


@cache  # reading the certificates that the system trusts takes 50 ms
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
