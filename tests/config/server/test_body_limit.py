"""Bodies are judged by what is announced, before any of them is read."""

import asyncio
from typing import Any

import pytest

from config.http.body_size import WITHOUT_CREDENTIAL_BYTES, BodyTooLarge, LengthRequired, body_error
from config.http.errors import DossierError
from config.http.problems import Busy
from config.server import body_limit
from config.server.body_limit import BodyLimit

KEY = [(b"authorization", b"Bearer x")]
SESSION = [(b"cookie", b"a=b; sessionid=x")]


class Application:
    """Reads the body and answers with its size; notes the refusals that it gets."""

    def __init__(self) -> None:
        self.refusals: list[Any] = []
        self.waiting = asyncio.Event()
        self.waiting.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.refusals.append(scope.get("body_refusal"))
        message = await receive()
        await self.waiting.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d" % len(message["body"])})


class Exchange:
    """One request, as a server hands it on."""

    def __init__(self, path: str, length: int | None, headers: Any = ()) -> None:
        framing = (b"transfer-encoding", b"chunked") if length is None else (b"content-length", b"%d" % length)
        self.scope: dict[str, Any] = {"type": "http", "path": path, "headers": [framing, *headers]}
        self.read = 0
        self.sent: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        self.read += 1
        return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}

    async def send(self, message: Any) -> None:
        self.sent.append((message, self.read))


@pytest.mark.finding("2b")
@pytest.mark.parametrize(
    ("path", "length", "headers", "refusal"),
    [
        ("/accounts/login/", 64_000, [], None),
        ("/accounts/login/", 64_001, [], BodyTooLarge),
        ("/accounts/login/", 300_000_000, [], BodyTooLarge),
        ("/accounts/login/", None, [], LengthRequired),
        ("/accounts/password/change/", 64_001, SESSION, BodyTooLarge),
        ("/api/v1/documents", WITHOUT_CREDENTIAL_BYTES, [], None),
        ("/api/v1/documents", WITHOUT_CREDENTIAL_BYTES + 1, [], BodyTooLarge),
        ("/api/v1/documents", WITHOUT_CREDENTIAL_BYTES + 1, [(b"cookie", b"csrftoken=x")], BodyTooLarge),
        ("/api/v1/documents", 5_000_000, KEY, None),
        ("/api/v1/documents", 5_000_001, KEY, BodyTooLarge),
        ("/api/v1/documents", None, KEY, LengthRequired),
        ("/import/", 5_000_000, SESSION, None),
        ("/import/", 5_000_001, SESSION, BodyTooLarge),
    ],
)
def test_what_is_refused_is_not_read_before_the_answer(
    path: str, length: int | None, headers: Any, refusal: type | None
) -> None:
    application, exchange = Application(), Exchange(path, length, headers)
    asyncio.run(BodyLimit(application)(exchange.scope, exchange.receive, exchange.send))
    (start, read_before), *bodies = exchange.sent
    if refusal is None:
        assert application.refusals == [None]
        assert (b"connection", b"close") not in start["headers"]
    else:
        assert type(application.refusals[0]) is refusal
        assert (read_before, bodies[0][1]) == (0, 0)
        assert (b"connection", b"close") in start["headers"]
        assert [message["more_body"] for message, _ in bodies] == [True, False]
        assert exchange.read <= 9  # the rest is not even dropped


def test_who_waits_for_leave_to_send_a_body_is_not_waited_for() -> None:
    exchange = Exchange("/accounts/login/", 300_000_000, [(b"expect", b"100-continue")])
    asyncio.run(BodyLimit(Application())(exchange.scope, exchange.receive, exchange.send))
    assert exchange.read == 0


@pytest.mark.finding("2b")
def test_large_bodies_have_a_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "LARGE_BODIES_BYTES", 6_000_000)

    async def story() -> None:
        application = Application()
        application.waiting.clear()
        limited = BodyLimit(application)

        def ask(length: int) -> asyncio.Task[None]:
            exchange = Exchange("/api/v1/documents", length, KEY)
            return asyncio.create_task(limited(exchange.scope, exchange.receive, exchange.send))

        tasks = [ask(4_000_000), ask(4_000_000), ask(1_000), ask(2_000_000)]
        await asyncio.sleep(0)
        application.waiting.set()
        await asyncio.gather(*tasks)
        assert [type(refusal) for refusal in application.refusals] == [type(None), Busy, type(None), type(None)]
        await ask(5_000_000)
        assert application.refusals[-1] is None

    asyncio.run(story())


def test_a_refusal_says_what_to_do() -> None:
    unknown = body_error("/api/v1/documents", 2_000_000, {})
    known = body_error("/api/v1/documents", 6_000_000, {"Authorization": "Bearer x"})
    assert unknown is not None
    assert known is not None
    assert "Sign in, or send a key" in unknown.detail
    assert "Send it in smaller parts" in known.detail


@pytest.mark.finding("3a")
def test_a_percent_encoded_form_is_small() -> None:
    """To decode 3 MB of them took 186 MB of memory."""

    def refused(announced: int, content_type: str) -> DossierError | None:
        return body_error("/files/1/", announced, {"Authorization": "Bearer x", "Content-Type": content_type})

    for content_type in ("application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; charset=utf-8"):
        refusal = refused(1_000_001, content_type)
        assert isinstance(refusal, BodyTooLarge)
        assert "Send it as multipart/form-data." in refusal.detail
        assert refused(1_000_000, content_type) is None
    assert refused(4_000_000, "multipart/form-data; boundary=x") is None
