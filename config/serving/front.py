"""The front: it sees a request before its body. It tells who asks, whether a limit is reached, and which
process computes the answer."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from config.http.errors import DossierError
from config.http.limits import REFUSAL
from config.http.problems import Busy
from config.serving.callers import Caller, Callers, credential_of
from config.serving.heavy_lane import Application, HeavyLane, Message, Receive, Send
from config.serving.heavy_routes import HeavyRoutes
from config.serving.refusals import REFUSAL_PAUSE_SECONDS, TooManyRequests, refuse

UNCOUNTED = ("/static/", "/metrics")
"""Begin the paths that count towards nobody's limits."""
SIGN_IN = "/accounts/"
"""Begins the paths that count towards an address, so that whoever is over a limit can still sign in and out."""


class Admitted(Protocol):
    """What a gate says of a request that it lets in."""

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers that tell the caller how much is left."""
        ...


class Gate(Protocol):
    """Knows the limits of callers."""

    def admit(self, caller: Caller, *, heavy: bool) -> AbstractContextManager["Admitted | None"]:
        """Return a block within which the request is under way. Raises TooManyRequests on entering it."""
        ...


class OpenGate:
    """Lets everybody in."""

    def admit(self, caller: Caller, *, heavy: bool) -> AbstractContextManager[Admitted | None]:
        return nullcontext()


class Front:
    """An ASGI application before two others: the one that answers here, and the heavy lane, if there is one."""

    def __init__(self, answer_here: Application, heavy_lane: HeavyLane | None, gate: Gate) -> None:
        self._answer_here = answer_here
        self._heavy_lane = heavy_lane
        self._gate = gate
        self._callers = Callers()
        self._heavy_routes = HeavyRoutes()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer the request. Raises ValueError for what is no request."""
        if scope["type"] != "http" or scope["path"].startswith(UNCOUNTED):
            await self._answer_here(scope, receive, send)
            return
        credential = b"" if scope["path"].startswith(SIGN_IN) else credential_of(scope)
        caller = self._callers.caller_of(scope, credential)
        scope["caller"] = caller.name
        is_read = REFUSAL not in scope  # a refused body costs nothing, and has nothing to hand over
        heavy = is_read and self._heavy_routes.is_heavy(scope, caller.name, _announced_bytes(scope))
        try:
            with self._gate.admit(caller, heavy=heavy) as admitted:
                await self._answer(scope, receive, _with_headers(send, admitted), heavy=heavy)
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

    async def _answer(self, scope: Message, receive: Receive, send: Send, *, heavy: bool) -> None:
        if heavy and self._heavy_lane:
            await self._heavy_lane(scope, receive, send)
            return
        await self._answer_here(scope, receive, send)
        self._heavy_routes.learn(scope["caller"], scope["path"], scope.get("facts", {}).get("seconds", 0.0))


def _announced_bytes(scope: Message) -> int:
    length: bytes = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(length) if length.isdigit() else 0


def _with_headers(send: Send, admitted: Admitted | None) -> Send:
    """The same, with the gate's headers added to answers."""
    if admitted is None:
        return send

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *admitted.headers()]}
        await send(message)

    return send_with_headers
