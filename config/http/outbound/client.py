"""What servers of others answer, when they are asked over HTTP: bounded, as it is, and over TLS that is set up once."""

import ssl
from functools import cache

import httpx2

MAX_BODY_BYTES = 2_000_000


class Failed(Exception):
    """A server gave no answer that can be used. The message says why, in plain words."""


def headers_for(url: httpx2.URL, secret: str) -> dict[str, str]:
    """Of a request with a JSON body; the secret, if there is one, goes along as a bearer token."""
    headers = {
        "Host": url.netloc.decode(),
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
    }
    return headers | {"Authorization": f"Bearer {secret}"} if secret else headers


async def body_of(response: httpx2.Response) -> bytes:
    """The body of an answer that is being streamed. Raises Failed where it is larger than MAX_BODY_BYTES."""
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise Failed(f"Its answer is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


@cache  # reading the certificates that the system trusts takes 50 ms
def tls() -> ssl.SSLContext:
    """By which servers are recognised."""
    return ssl.create_default_context()
