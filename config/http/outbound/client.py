"""Dossier sends requests to other servers with this client.

It connects only to addresses that were looked up and checked, verifies the host's name by TLS, follows no redirects,
uses no proxy of the environment, limits the size of a response, and closes everything at its deadline. The HTTP library
limits the head of a response to 100 kB.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Self

import httpx2

from config.http.outbound.ssrf import AllowedNetworks, Destination, find_destination

MAX_BODY_BYTES = 2_000_000
MAX_ADDRESSES = 4
"""The maximum number of addresses of a host that are tried."""
OK = 200


class OutboundRequestFailed(Exception):
    """A server gave no usable response. The message says why, in plain words and without any address."""


class Unreachable(OutboundRequestFailed):
    """No connection was made, so the server received nothing."""


class Interrupted(OutboundRequestFailed):
    """The connection ended before the response did, or the response is not HTTP."""


class UnexpectedStatus(OutboundRequestFailed):
    """The status of the response is not 200."""

    def __init__(self, status: int) -> None:
        super().__init__(f"It answered with status {status} instead of 200.")
        self.status = status


class UnusableBody(OutboundRequestFailed):
    """The body of the response is too large or compressed. `problem` is the predicate of the message."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"Its answer {problem}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class OutboundClient:
    """A client that sends JSON by POST to one destination, within one deadline; opened by `async with
    OutboundClient.open(…)`.

    `seconds` is the time that it had when it was opened.
    """

    destination: Destination
    seconds: float
    max_bytes: int
    _http: httpx2.AsyncClient

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        *,
        allowed: AllowedNetworks,
        seconds: float,
        secret: str = "",
        max_bytes: int = MAX_BODY_BYTES,
        concurrency: int | None = None,
    ) -> AsyncIterator[Self]:
        """Look up the host and yield a client. Raises AddressRefused, and TimeoutError if that takes longer than
        `seconds`.

        A secret is sent as a bearer token. `concurrency` is the maximum number of concurrent requests.
        """
        async with asyncio.timeout(seconds):
            destination = await find_destination(url, allowed)
            async with httpx2.AsyncClient(
                verify=tls_context(),
                trust_env=False,
                follow_redirects=False,
                timeout=None,
                # No connection is used twice: the server may close it the moment the next request is sent.
                limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=0),
                headers=_request_headers(destination.url, secret),
            ) as http:
                yield cls(destination, seconds, max_bytes, http)

    async def post(
        self, body: str, *, address: str, headers: Mapping[str, str] | None = None, connect_seconds: float | None = None
    ) -> bytes:
        """Return the body of the response of the address. Raises OutboundRequestFailed."""
        async with self._response(body, address, headers, connect_seconds) as response:
            if response.status_code != OK:
                raise UnexpectedStatus(response.status_code)
            if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
                raise UnusableBody("is compressed. It must send it as it is.")
            answer = await _first_bytes(response, self.max_bytes + 1)
        if len(answer) > self.max_bytes:
            raise UnusableBody(f"is larger than {self.max_bytes:,} bytes.")
        return answer

    async def post_to_any(self, body: str) -> bytes:
        """Return the body of the response of the first address that can be reached. Raises OutboundRequestFailed.

        The addresses share the seconds, so one that does not answer leaves time for the others.
        """
        *others, last = self.destination.addresses[:MAX_ADDRESSES]
        patience = self.seconds / (len(others) + 1)
        for address in others:
            try:
                return await self.post(body, address=address, connect_seconds=patience)
            except Unreachable:
                continue
        return await self.post(body, address=last, connect_seconds=patience)

    async def post_for_status(self, body: str, *, address: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Return the status, whatever it is, and the first `max_bytes` of the response. Raises
        OutboundRequestFailed.
        """
        async with self._response(body, address, headers, None) as response:
            return response.status_code, await _first_bytes(response, self.max_bytes)

    @asynccontextmanager
    async def _response(
        self, body: str, address: str, headers: Mapping[str, str] | None, connect_seconds: float | None
    ) -> AsyncIterator[httpx2.Response]:
        try:
            async with self._http.stream(
                "POST",
                self.destination.at(address),
                content=body,
                headers=headers,
                extensions={"sni_hostname": self.destination.host},
                timeout=httpx2.Timeout(None, connect=connect_seconds),
            ) as response:
                yield response
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unreachable(_tls_fault(error) or "It could not be reached.") from None
        except httpx2.TransportError as error:
            raise Interrupted(_tls_fault(error) or "It broke off, or its answer is not HTTP.") from None


def _request_headers(url: httpx2.URL, secret: str) -> dict[str, str]:
    headers = {
        "Host": url.netloc.decode(),
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
    }
    return headers | {"Authorization": f"Bearer {secret}"} if secret else headers


async def _first_bytes(response: httpx2.Response, number: int) -> bytes:
    """Return the beginning of the body; the rest is not read."""
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) >= number:
            break
    return bytes(body[:number])


def _tls_fault(error: httpx2.TransportError) -> str:
    """Return the TLS error in plain words, "" for none. The error's own message may repeat addresses and headers."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "Its certificate is not valid for its host, or its issuer is unknown."
        if isinstance(cause, ssl.SSLError):
            return "A secure connection failed."
        cause = cause.__cause__ or cause.__context__
    return ""


@cache  # reading the certificates that the system trusts takes 50 ms
def tls_context() -> ssl.SSLContext:
    """Return the TLS context with the trusted certificates."""
    return ssl.create_default_context()
