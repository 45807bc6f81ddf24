"""Django runs as an ASGI application in which one thread answers a request, from its first middleware to its last.

Django's own handler starts a thread for each request, and changes between it and the event loop repeatedly. Here a
request changes once to an existing thread and once back, and waits in a fair queue if all are busy.
"""

import asyncio
import contextvars
import gc
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from threading import Barrier, get_ident
from time import clock_gettime, pthread_getcpuclockid, thread_time
from typing import IO, Any, NamedTuple, cast

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import HttpResponseBase
from django.urls import set_script_prefix

from config.http.cpu_budget import note_arrival
from config.observability.request_context import caller_fields
from config.server.limiter import FairLimiter, MovedToHeavyLane
from config.server.memory_settings import TRIM_SECONDS, GarbageSchedule, release_memory

CONCURRENCY = 1
"""The number of concurrent requests of a process.

With two, each takes longer and no more are answered (`make bench ONLY=deadline`, `ONLY=http_assembly`); more processes
answer more.
"""
COUNTED_SECONDS = 0.25
"""Seconds for which a request counts as running.

Few compute for as long; one that waits for other servers may take seconds.
"""

CALLER_THREADS_SHARE = 0.75
"""The share of the threads that requests of one caller may use, so that hanging ones leave threads to other callers."""
MAX_BUFFERED_BYTES = 1_000_000
"""A file up to this size, in bytes, is sent in one piece."""


COMPUTING_SECONDS = 0.15
"""CPU seconds after which a request that takes long counts as computing."""


class RerouteToHeavyLane(Exception):
    """The request was not answered, because its caller computes too much in this process. Its body was read."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.body = body


class BufferedResponse(NamedTuple):
    """A response for ASGI: a body, or the `rest` that is read while it is sent."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    rest: "StreamedBody | None" = None


class StreamedBody(NamedTuple):
    """The parts of a body that is sent while it is created, and what has to be closed after the last part."""

    pieces: Iterator[bytes]
    response: HttpResponseBase


class ThreadedHandler(ASGIHandler):
    """Django's handler with synchronous middleware and a limited number of concurrent requests; others wait in a fair
    queue.
    """

    def __init__(self, threads: int, turns: FairLimiter | None = None) -> None:
        super().__init__()
        self.load_middleware(is_async=False)
        self._threads = _started_pool(threads)
        self._garbage = GarbageSchedule()
        self._turns = turns or FairLimiter(
            CONCURRENCY, COUNTED_SECONDS, max_per_caller=max(1, int(CALLER_THREADS_SHARE * threads))
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the request, let Django answer it, and send the response. Raises ValueError for an invalid request.

        `scope["caller"]` is the caller for the fair queue; `scope["facts"]` has afterwards who it was and what the
        request cost. If there is `scope["on_long"]`, another process can answer the request: it is called when the
        request was stopped after its `scope["cpu_seconds"]`. Raises RerouteToHeavyLane then, and if the request would
        wait behind a long one of its caller.
        """
        if scope["type"] != "http":
            raise ValueError(f"Dossier has no pages for {scope['type']}.")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        whole = b""
        if "cpu_seconds" in scope:  # it may be needed again, and Django closes the file that it has read
            whole = body.read()
            body.seek(0)
        note_arrival()
        answering = partial(contextvars.copy_context().run, self._answer, scope, body)
        async with self._turn(scope, body):
            answer = await _await_thread(asyncio.get_running_loop().run_in_executor(self._threads, answering))
        if answer is None:
            self._threads.submit(release_memory)
            raise RerouteToHeavyLane(whole)
        try:
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            await send({"type": "http.response.body", "body": answer.body, "more_body": answer.rest is not None})
            if answer.rest:
                await self._send_rest(answer.rest, send)
        finally:
            del body, answering, answer
            if (seconds := scope["facts"]["seconds"]) > TRIM_SECONDS:
                self._threads.submit(release_memory, seconds)
            elif (generation := self._garbage.due_after(seconds)) is not None:
                self._threads.submit(gc.collect, generation)

    @asynccontextmanager
    async def _turn(self, scope: Any, body: IO[bytes]) -> AsyncIterator[None]:
        """Wait until the request may run. Raises RerouteToHeavyLane if another process should answer it."""
        movable, begun = "on_long" in scope, False
        computing = partial(_is_computing, scope)
        try:
            async with self._turns.one(scope.get("caller", ""), is_computing=computing, movable=movable):
                begun = True
                yield
        except MovedToHeavyLane:
            if begun:
                raise
            with body:
                raise RerouteToHeavyLane(body.read()) from None

    async def _send_rest(self, rest: StreamedBody, send: Any) -> None:
        """Send a file part by part, so that only one part is in memory; threads read them."""
        loop = asyncio.get_running_loop()
        try:
            while (piece := await loop.run_in_executor(self._threads, next, rest.pieces, b"")) != b"":
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await loop.run_in_executor(self._threads, rest.response.close)

    def _answer(self, scope: Any, body: IO[bytes]) -> BufferedResponse | None:
        """Return the response; None if the request was stopped, to be answered by another process."""
        begun = thread_time()
        scope["thread"] = pthread_getcpuclockid(get_ident()), begun
        try:
            return self._answer_request(scope, body)
        finally:
            scope.setdefault("facts", {})["seconds"] = thread_time() - begun

    def _answer_request(self, scope: Any, body: IO[bytes]) -> BufferedResponse | None:
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            response = self._response(scope, body)
            if scope.pop("was_stopped", False):
                scope["on_long"]()
                response.close()
                return None
            if _is_streamed(response):
                # The connections of this thread are done with; what is sent later comes from a file.
                signals.request_finished.send(sender=self.__class__)
                return BufferedResponse(
                    response.status_code, _headers(response), b"", StreamedBody(iter(_chunks(response)), response)
                )
            try:
                return BufferedResponse(response.status_code, _headers(response), b"".join(_chunks(response)))
            finally:
                response.close()  # tells those who wait for the end of the request, such as Django's connections

    def _response(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        request, refusal = self.create_request(scope, body)
        if request is None:
            return cast("HttpResponseBase", refusal)
        response = self.get_response(request)
        scope["facts"] = caller_fields(request)
        return response


def _is_computing(scope: Any) -> bool:
    """Return whether the request has computed for long, and not waited for others."""
    clock, begun = scope.get("thread", (None, 0.0))
    return clock is not None and clock_gettime(clock) - begun >= COMPUTING_SECONDS


async def _await_thread(work: "asyncio.Future[BufferedResponse | None]") -> BufferedResponse | None:
    """Return the result of the thread. If the waiting task is cancelled, the thread continues and counts as running."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def _started_pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool whose threads are all started, so that no request waits for one."""
    pool, together = ThreadPoolExecutor(threads, thread_name_prefix="request"), Barrier(threads + 1)
    for _ in range(threads):
        pool.submit(together.wait)
    together.wait()
    return pool


def _headers(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    plain = [(name.encode("ascii"), value.encode("latin1")) for name, value in response.items()]
    cookies = [(b"Set-Cookie", cookie.OutputString().encode("ascii")) for cookie in response.cookies.values()]
    return plain + cookies


def _chunks(response: HttpResponseBase) -> Iterable[bytes]:
    return response if not response.streaming else response.streaming_content  # type: ignore[attr-defined]


def _is_streamed(response: HttpResponseBase) -> bool:
    """Return whether the response is a file that should be read while it is sent."""
    return response.streaming and int(response.headers.get("Content-Length", 0)) > MAX_BUFFERED_BYTES
