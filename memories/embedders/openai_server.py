"""One request to the embedding server: no redirects, no proxies of the environment, bounds on size and time."""

import json
import ssl
from collections.abc import Mapping
from functools import cache
from time import monotonic
from typing import Any

import httpx2
from django.conf import settings

from memories.embedders.base import EmbedderFailed

MAX_BODY_BYTES = 20_000_000
OK = 200
REFUSALS = {401, 403}
NOT_CONFIGURED = "No embedding server is configured. Set EMBEDDER_URL to its address, as in http://localhost:11434/v1."


def answer_of(question: Mapping[str, Any], *, seconds: float) -> Any:
    """What the server answers, read as JSON, within about so many seconds. Raises EmbedderFailed."""
    if not settings.EMBEDDER_URL:
        raise EmbedderFailed(NOT_CONFIGURED)
    try:
        body = _body_of(question, seconds)
    except httpx2.TimeoutException:
        raise EmbedderFailed(f"The embedding server did not answer within {seconds:g} s.") from None
    except httpx2.ConnectError:
        raise EmbedderFailed("The embedding server could not be reached. Does it run at EMBEDDER_URL?") from None
    except httpx2.TransportError:
        raise EmbedderFailed("The embedding server broke off, or its answer is not HTTP.") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise EmbedderFailed("The embedding server's answer is not JSON.") from None


def _body_of(question: Mapping[str, Any], seconds: float) -> bytes:
    until = monotonic() + seconds
    client = httpx2.Client(verify=_tls(), trust_env=False, follow_redirects=False, timeout=seconds, headers=_headers())
    with client, client.stream("POST", f"{settings.EMBEDDER_URL}/embeddings", content=json.dumps(question)) as response:
        _check(response.status_code)
        body = bytearray()
        for part in response.iter_raw():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise EmbedderFailed(f"The embedding server's answer is larger than {MAX_BODY_BYTES:,} bytes.")
            if monotonic() > until:
                raise httpx2.ReadTimeout("the answer trickles")
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
