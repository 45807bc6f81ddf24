"""Admission handles a request before its body is read: it finds the caller, checks limits, and chooses the process.

Refusals do not use the database: they are problem+json for the API, a page for people.
"""

import asyncio
import json
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol

from django.template.loader import render_to_string
from uuid_utils.compat import uuid7

from config.http.body_size import REFUSAL
from config.http.errors import DossierError, TooManyRequests
from config.http.problems import MEDIA_TYPE, Busy, problem_document
from config.server.callers import Caller, CallerCache, credential_of
from config.server.heavy_lane import Application, HeavyLane, Message, Receive, Send
from config.server.heavy_routes import LIGHT_CPU_SECONDS, LONG_SECONDS, HeavyRoutes, is_heavy, may_be_stopped
from config.server.threaded_handler import RerouteToHeavyLane

REFUSAL_PAUSE_SECONDS = 0.5


class _RequestStub:
    """The part of a request that a problem document needs."""

    def __init__(self) -> None:
        self.request_id = str(uuid7())


async def refuse(scope: Message, error: DossierError, send: Send) -> None:
    """Send the error as the response."""
    request: Any = _RequestStub()
    seconds = error.retry_after or 1
    if scope["path"].startswith("/api/"):
        media_type, body = MEDIA_TYPE, json.dumps(problem_document(request, error)).encode()
    else:
        media_type = "text/html; charset=utf-8"
        body = render_to_string("refused.html", {"error": error, "seconds": seconds}).encode()
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(seconds).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request.request_id.encode()),
        (b"content-security-policy", b"default-src 'none'; style-src 'self'; frame-ancestors 'none'"),
        *getattr(error, "headers", []),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


UNLIMITED_PATHS = ("/static/", "/metrics")
"""Prefixes of the paths that count towards no limits."""
SIGN_IN = "/accounts/"
"""Prefixes of the paths that count towards an address, so that a caller who is over a limit can still
sign in and out.
"""


class Admission(Protocol):
    """A request that the gate admitted."""

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that tell the caller how much is left."""
        ...

    def answered(self, status: int, body_bytes: int) -> None:
        """Count the response to the request, whose body had this many bytes."""
        ...


class Gate(Protocol):
    """The interface of a gate, which knows the limits of callers."""

    def admit(
        self, caller: Caller, *, heavy: bool, method: str, path: str, moved: bool = False
    ) -> AbstractContextManager["Admission | None"]:
        """Return a block within which the request counts as in progress. Raises TooManyRequests on entering it.

        A request that was `moved` to the heavy process was admitted before, as a request that is not costly.
        """
        ...


class OpenGate:
    """A gate without limits."""

    def admit(
        self, caller: Caller, *, heavy: bool, method: str, path: str, moved: bool = False
    ) -> AbstractContextManager[Admission | None]:
        return nullcontext()


class FrontApplication:
    """An ASGI application in front of two others: the one in this process, and the heavy lane, if there is one."""

    def __init__(self, answer_here: Application, heavy_lane: HeavyLane | None, gate: Gate) -> None:
        self._answer_here = answer_here
        self._heavy_lane = heavy_lane
        self._gate = gate
        self._callers = CallerCache()
        self._heavy_routes = HeavyRoutes()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request. Raises ValueError for an invalid request."""
        if scope["type"] != "http" or scope["path"].startswith(UNLIMITED_PATHS):
            await self._answer_here(scope, receive, send)
            return
        credential = b"" if scope["path"].startswith(SIGN_IN) else credential_of(scope)
        caller = self._callers.caller_of(scope, credential)
        scope["caller"] = caller.name
        body_bytes = _announced_bytes(scope)
        try:
            admitted, status = await self._answered(scope, receive, send, caller, body_bytes)
        except DossierError as error:
            if isinstance(error, TooManyRequests):  # whoever tries again at once costs no more than once in a while
                await asyncio.sleep(REFUSAL_PAUSE_SECONDS)
            elif not isinstance(error, Busy):
                raise
            await refuse(scope, error, send)
            return
        facts = scope.get("facts", {})
        if "principal" in facts:
            self._callers.learn(credential, facts)
        if admitted:
            admitted.answered(status, body_bytes)

    async def _answered(
        self, scope: Message, receive: Receive, send: Send, caller: Caller, body_bytes: int
    ) -> tuple[Admission | None, int]:
        """Answer where that delays other requests least; return the status. Raises TooManyRequests and Busy."""
        is_large = is_heavy(scope, body_bytes)
        is_read = REFUSAL not in scope  # a refused body costs nothing, and has nothing to hand over
        heavy = is_read and (is_large or self._heavy_routes.was_heavy(caller.name, scope["path"]))
        if self._heavy_lane and not heavy:
            scope["on_long"] = partial(self._heavy_routes.learn, caller.name, scope["path"], LONG_SECONDS)
            if may_be_stopped(scope):
                scope["cpu_seconds"] = LIGHT_CPU_SECONDS
        try:
            answered = await self._answered_by(scope, receive, send, caller, heavy=heavy)
        except RerouteToHeavyLane as overtaken:
            del scope["on_long"]
            scope.pop("cpu_seconds", None)
            body = _replay_body(overtaken.body, receive)
            answered = await self._answered_by(scope, body, send, caller, heavy=True, moved=True)
        if not is_large:
            seconds = scope.get("facts", {}).get("seconds", 0.0)
            self._heavy_routes.learn(caller.name, scope["path"], seconds)
        return answered

    async def _answered_by(
        self, scope: Message, receive: Receive, send: Send, caller: Caller, *, heavy: bool, moved: bool = False
    ) -> tuple[Admission | None, int]:
        application = self._heavy_lane if heavy and self._heavy_lane else self._answer_here
        route = {"method": scope["method"], "path": scope["path"]}
        with self._gate.admit(caller, heavy=heavy, moved=moved, **route) as admitted:
            answer = _AnswerSender(send, admitted)
            await application(scope, receive, answer.send)
        return admitted, answer.status


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that returns a body that was read already, and then what comes after it.

    The body is small.
    """
    arriving = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return arriving.pop() if arriving else await receive()

    return receive_again


def _announced_bytes(scope: Message) -> int:
    length: bytes = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(length) if length.isdigit() else 0


class _AnswerSender:
    """A send function that passes a response on with the gate's headers, and stores its status."""

    def __init__(self, send: Send, admitted: Admission | None) -> None:
        self._send = send
        self._admitted = admitted
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass on one message."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            has_limits = any(name.lower() == b"ratelimit" for name, _value in message["headers"])
            if self._admitted and not has_limits:  # a refusal names the limit that was reached, which may be a team's
                message = {**message, "headers": [*message["headers"], *self._admitted.headers()]}
        await self._send(message)
