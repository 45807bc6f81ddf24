"""The heavy lane passes whole requests over a Unix socket to the process that answers costly ones.

Python computes one request of a process at a time, so a costly request delays all others of its process. In a process
of its own, with a lower priority, it does not. A connection carries one request: frames of ASGI messages there and
back. The first byte that comes back says that the request is accepted.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

import msgspec

from config.http.problems import Busy

CONNECT_SECONDS = 20.0  # the process begins anew within that time
PAUSE_SECONDS = 0.1
LENGTH_BYTES = 4
ACCEPTED = b"+"
"""The first byte that comes back: the process will answer before it ends."""
FRAME_BYTES, MAX_FRAME_BYTES = 1_000_000, 64_000_000
CALLER_FACTS = "dossier.facts"
"""The type of the last frame."""

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Application(Protocol):
    """The type of an ASGI application: an asynchronous callable with scope, receive and send."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None: ...


class HeavyLane:
    """The web process's end of the heavy lane: an ASGI application whose requests another process answers."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, and send what comes back. The facts that come last are added to the scope.

        Raises Busy if the other process is unavailable, or ended before it accepted the request.
        """
        reader, writer = await self._connected()
        sending = asyncio.create_task(_send_request(scope, receive, writer))
        begun = False
        try:
            async for message in _frames(reader):
                if message["type"] == CALLER_FACTS:
                    scope["facts"] = message["facts"]
                    return
                begun = True
                await send(message)
            if not begun:
                raise Busy("What answers costly requests was just restarted. Nothing is known of this one; try again.")
            if not _is_client_gone(sending):
                raise ConnectionError("the heavy process went away in the middle of an answer")
        finally:
            sending.cancel()
            writer.close()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await sending

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        until = time.monotonic() + CONNECT_SECONDS
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_unix_connection(self._path)
                if await _is_accepted(reader, writer):
                    return reader, writer
            if time.monotonic() > until:
                raise Busy("What answers costly requests is being restarted. Try again in a moment.")
            await asyncio.sleep(PAUSE_SECONDS)


async def _is_accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Return whether the other process accepts the request of the connection; otherwise the connection is closed."""
    taken = False
    try:
        taken = await reader.read(len(ACCEPTED)) == ACCEPTED
    finally:
        if not taken:
            writer.close()
    return taken


def _is_client_gone(sending: "asyncio.Task[None]") -> bool:
    """Return whether the client has disconnected or has its whole response, so that nothing is due."""
    return sending.done() and not sending.cancelled() and sending.exception() is None


async def _send_request(scope: Message, receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Send the request and its body, and later that the client has disconnected."""
    await _write(writer, {name: value for name, value in scope.items() if _is_serialisable(value)})
    while True:
        message = await receive()
        await _write(writer, message)
        if message["type"] == "http.disconnect":
            return


def _is_serialisable(value: Any) -> bool:
    """Return whether the value can be serialised: the server's own objects cannot."""
    return isinstance(value, str | bytes | int | float | list | tuple) or value is None


async def answer_one(application: Application, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the request of one connection, as the other end of HeavyLane. Return when the response is sent."""
    writer.write(ACCEPTED)
    arriving: asyncio.Queue[Message] = asyncio.Queue(maxsize=2)
    frames = _frames(reader)
    scope = await anext(frames, None)
    if scope is None:
        writer.close()
        return
    scope["headers"] = [tuple(pair) for pair in scope["headers"]]
    answering = asyncio.create_task(_answered(application, scope, arriving.get, writer))
    arriving_task = asyncio.create_task(_deliver_messages(frames, arriving, answering))
    try:
        await answering
    except asyncio.CancelledError:
        logger.info("a costly request was given up: its client went away")
    finally:
        arriving_task.cancel()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _answered(application: Application, scope: Message, receive: Receive, writer: asyncio.StreamWriter) -> None:
    async def send(message: Message) -> None:
        body = message.get("body", b"")
        while len(body) > FRAME_BYTES:
            await _write(writer, {**message, "body": body[:FRAME_BYTES], "more_body": True})
            body = body[FRAME_BYTES:]
        await _write(writer, {**message, "body": body} if body else message)

    with contextlib.suppress(ConnectionError):
        await application(scope, receive, send)
        await _write(writer, {"type": CALLER_FACTS, "facts": scope.get("facts", {})})


async def _deliver_messages(
    frames: AsyncIterator[Message], arriving: asyncio.Queue[Message], task: "asyncio.Task[None]"
) -> None:
    """Pass the messages to the application as they arrive, and cancel its work when the client has disconnected."""
    async for message in frames:
        if message["type"] == "http.disconnect":
            break
        await arriving.put(message)
    task.cancel()


async def _frames(reader: asyncio.StreamReader) -> AsyncIterator[Message]:
    while True:
        try:
            length = int.from_bytes(await reader.readexactly(LENGTH_BYTES))
            if length > MAX_FRAME_BYTES:
                return
            yield msgspec.msgpack.decode(await reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return


async def _write(writer: asyncio.StreamWriter, message: Message) -> None:
    frame = msgspec.msgpack.encode(message)
    writer.write(len(frame).to_bytes(LENGTH_BYTES))
    writer.write(frame)
    await writer.drain()
