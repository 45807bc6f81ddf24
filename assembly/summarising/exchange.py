"""One request to the server over HTTP: no redirects, no proxies of the environment, a bounded answer."""

import json
from collections.abc import Sequence

import httpx2

from assembly.summarising.conversation import Question, summary_read
from assembly.summarising.server import Server
from config.http.answers import Failed, body_of, headers_for, tls

OK = 200
REFUSALS = {401, 403}


def client_for(server: Server) -> httpx2.AsyncClient:
    """A client of that server, without a deadline of its own."""
    return httpx2.AsyncClient(
        verify=tls(),
        trust_env=False,
        follow_redirects=False,
        timeout=None,
        # None is used twice: the server may close it the moment the next question is sent.
        limits=httpx2.Limits(max_connections=server.concurrency, max_keepalive_connections=0),
        headers=headers_for(server.url, server.key),
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
        return await body_of(response)
