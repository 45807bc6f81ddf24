"""The first ASGI application that sees a request: bodies that will be refused are not read, and large ones have a bound
that they share."""

import asyncio
from contextlib import suppress

from django.utils.datastructures import CaseInsensitiveMapping as Headers

from config.http.body_size import REFUSAL, SMALL_FORM_BYTES, body_error
from config.http.errors import DossierError
from config.http.problems import Busy
from config.server.heavy_lane import Application, Message, Receive, Send

LARGE_BODIES_BYTES = 256_000_000
"""Bodies over SMALL_FORM_BYTES that one process is reading, or has read and not answered yet."""
DROP_SECONDS, DROP_BYTES = 2.0, 8_000_000
"""How long, and how far, a refused body is read and dropped after the answer: closed at once, the connection would be
reset while the client still sends, before it had read why."""


class BodyLimit:
    """Passes requests on to another application. One with a refused body gets its answer without it, and then the end
    of its connection."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._large_bytes = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request."""
        size, is_chunked = _announced_size(scope)
        if size <= SMALL_FORM_BYTES and not is_chunked:
            await self._application(scope, receive, send)
        elif refusal := self._refusal(scope, size):
            await self._refuse(scope, receive, send, refusal)
        else:
            self._large_bytes += size
            try:
                await self._application(scope, receive, send)
            finally:
                self._large_bytes -= size

    def _refusal(self, scope: Message, size: int) -> DossierError | None:
        headers = Headers({name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]})
        refusal = body_error(scope["path"], size, headers)
        if refusal is None and self._large_bytes + size > LARGE_BODIES_BYTES:
            return Busy("Too many large requests came at once. Nothing was changed; try again in a moment.")
        return refusal

    async def _refuse(self, scope: Message, receive: Receive, send: Send, refusal: DossierError) -> None:
        """Let Django's middleware answer; end the answer, and with it the connection, once the body is dropped."""
        has_answer = False

        async def send_but_end(message: Message) -> None:
            nonlocal has_answer
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
                has_answer = True
            await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

        await self._application({**scope, REFUSAL: refusal}, _no_body, send_but_end)
        if (b"expect", b"100-continue") not in scope["headers"]:  # who waits for leave to send it, sends none
            await _drain(receive)
        if has_answer:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _announced_size(scope: Message) -> tuple[int, bool]:
    """Return the size that the request says its body has, in bytes, and whether it says none because it is chunked."""
    size, is_chunked = 0, False
    if scope["type"] == "http":
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit():
                size = int(value)
            elif name == b"transfer-encoding":
                is_chunked = True
    return size, is_chunked


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _drain(receive: Receive) -> None:
    dropped = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DROP_SECONDS):
            while dropped < DROP_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
