"""One request to the server over HTTP: no redirects, no proxies of the environment, a bounded answer."""

import json
import ssl
from collections.abc import Sequence
from functools import cache

import httpx2

from assembly.summarising.conversation import Failed, Question, summary_read
from assembly.summarising.server import Server

MAX_BODY_BYTES = 2_000_000
OK = 200
REFUSALS = {401, 403}


def client_for(server: Server) -> httpx2.AsyncClient:
    """A client of that server, without a deadline of its own."""
    return httpx2.AsyncClient(
        verify=_tls(),
        trust_env=False,
        follow_redirects=False,
        timeout=None,
        # None is used twice: the server may close it the moment the next question is sent.
        limits=httpx2.Limits(max_connections=server.concurrency, max_keepalive_connections=0),
        headers=_headers(server),
    )


async def summary_by(
    client: httpx2.AsyncClient, server: Server, addresses: Sequence[str], question: Question, *, seconds: float
) -> str:
    """The summary that the server makes, asked at the first of its addresses that answers. Raises Failed.

    The addresses share the seconds: one that swallows every attempt to connect leaves the others their part.
    """
    patience = httpx2.Timeout(None, connect=seconds / max(1, len(addresses)))
    for address in addresses:
        try:
            body = await _answer(client, server, address, question, patience)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
        except httpx2.TransportError:
            raise Failed("It broke off, or its answer is not HTTP.") from None
        summary = summary_read(body, question)
        if server.key and server.key in summary:
            raise Failed("Its answer repeats the key that it was sent.")
        return summary
    raise Failed("It could not be reached.")


async def _answer(
    client: httpx2.AsyncClient, server: Server, address: str, question: Question, patience: httpx2.Timeout
) -> bytes:
    async with client.stream(
        "POST",
        server.at(address),
        content=json.dumps(question.body(server.model)),
        extensions={"sni_hostname": server.host},
        timeout=patience,
    ) as response:
        if response.status_code in REFUSALS:
            raise Failed(f"It answered with status {response.status_code}: it does not accept the key.")
        if response.status_code != OK:
            raise Failed(f"It answered with status {response.status_code} instead of 200.")
        return await _body(response)


async def _body(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise Failed(f"Its answer is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


def _headers(server: Server) -> dict[str, str]:
    headers = {
        "Host": server.url.netloc.decode(),
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
    }
    return headers | {"Authorization": f"Bearer {server.key}"} if server.key else headers


@cache  # reading the certificates that the system trusts takes 50 ms
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
