"""Requests to other servers: a bounded answer, TLS that is set up once, and a call that runs in a background thread."""

import ssl
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache
from threading import Thread
from typing import Generic, TypeVar

import httpx2

Result = TypeVar("Result")


class BackgroundCall(Generic[Result]):
    """A call that has begun. It is to end by itself: nobody waits for it longer than they like."""

    def __init__(self, name: str, call: Callable[[], Result]) -> None:
        self._future: Future[Result] = Future()
        context = copy_context()
        Thread(target=context.run, args=(self._run, call), name=name, daemon=True).start()

    def _run(self, call: Callable[[], Result]) -> None:
        try:
            self._future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for the result
            self._future.set_exception(error)

    def result(self, *, seconds: float) -> Result:
        """What it returned or raised. Raises TimeoutError where it is not done after so many seconds."""
        return self._future.result(timeout=seconds)


MAX_BODY_BYTES = 2_000_000


class OutboundRequestFailed(Exception):
    """A server gave no answer that can be used. The message says why, in plain words."""


def request_headers(url: httpx2.URL, secret: str) -> dict[str, str]:
    """Of a request with a JSON body; the secret, if there is one, goes along as a bearer token."""
    headers = {
        "Host": url.netloc.decode(),
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # what is small and compressed may be huge
        "User-Agent": "dossier",
    }
    return headers | {"Authorization": f"Bearer {secret}"} if secret else headers


async def read_body(response: httpx2.Response) -> bytes:
    """The body of an answer that is being streamed. Raises Failed where it is larger than MAX_BODY_BYTES."""
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise OutboundRequestFailed(f"Its answer is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


@cache  # reading the certificates that the system trusts takes 50 ms
def tls_context() -> ssl.SSLContext:
    """By which servers are recognised."""
    return ssl.create_default_context()
