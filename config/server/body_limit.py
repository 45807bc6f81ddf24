"""This is the first ASGI application that sees a request.

Bodies that will be refused are not read, and large bodies share a limit.
"""

import asyncio
from contextlib import suppress

from django.utils.datastructures import CaseInsensitiveMapping as Headers

from config.http.body_size import REFUSAL, SMALL_FORM_BYTES, body_error
from config.http.errors import DossierError
from config.http.problems import Busy
from config.server.heavy_lane import Application, Message, Receive, Send

LARGE_BODIES_BYTES = 256_000_000
"""The limit, in bytes, of all bodies over SMALL_FORM_BYTES that a process is reading, or has read and
not answered yet.
"""
DROP_SECONDS, DROP_BYTES = 2.0, 8_000_000
"""How long, and how much of it, a refused body is read and dropped after the response.

If the connection were closed at once, it would be reset before the client had read the response.
"""


class BodyLimit:
    """An ASGI application that passes requests on to another one, and rejects bodies that are too large.

    A rejected request is answered with an error before its body is read, and its connection is closed.
    """

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
            return Busy("There were too many large requests. Nothing was changed; try again in a moment.")
        return refusal

    async def _refuse(self, scope: Message, receive: Receive, send: Send, refusal: DossierError) -> None:
        """Let Django's middleware answer, then drop the body and end the connection."""
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
    """Return the announced size of the body, in bytes, and whether it is unknown because the body is chunked."""
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
