"""The heavy lane: whole requests, handed over a Unix socket to the process that answers costly ones.

Python computes one request of a process at a time, so that a costly request makes all others of its process wait. In a
process of its own, with a lower priority, it does not. One connection carries one request: frames of ASGI's messages
there, and back. The first byte that comes back says that the request will be answered, so that none is handed to a
process that is about to end; the last frame says what the other process learnt of the request.
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
"""The first byte that comes back: the process will not end before it has answered."""
FRAME_BYTES, MAX_FRAME_BYTES = 1_000_000, 64_000_000
CALLER_FACTS = "dossier.facts"
"""The type of the last frame."""

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Application(Protocol):
    """An ASGI application."""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None: ...


class HeavyLane:
    """The web process's end: an ASGI application that has requests answered by the other process."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Hand the request over, and send on what comes back. The facts that come last are added to the scope.

        Raises Busy where the other process is away, or went away before it answered.
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
    """Whether the other process takes the connection's request. It is closed otherwise."""
    taken = False
    try:
        taken = await reader.read(len(ACCEPTED)) == ACCEPTED
    finally:
        if not taken:
            writer.close()
    return taken


def _is_client_gone(sending: "asyncio.Task[None]") -> bool:
    """Whether the client's end was handed over: it went away, or has all of its answer, so that nothing is owed."""
    return sending.done() and not sending.cancelled() and sending.exception() is None


async def _send_request(scope: Message, receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Send the request and its body; afterwards, that the client is gone, if it goes."""
    await _write(writer, {name: value for name, value in scope.items() if _is_serialisable(value)})
    while True:
        message = await receive()
        await _write(writer, message)
        if message["type"] == "http.disconnect":
            return


def _is_serialisable(value: Any) -> bool:
    """Whether it can be sent: not the server's own objects."""
    return isinstance(value, str | bytes | int | float | list | tuple) or value is None


async def answer_one(application: Application, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the request of one connection; the other end of HeavyLane. Return when the answer has left the process."""
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
    """Give the application the messages as they come, and end its work when the client is gone."""
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
