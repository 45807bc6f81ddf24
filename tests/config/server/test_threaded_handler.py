"""Django behind ASGI: what a server sends in, and what it gets back."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from django.core.signals import request_finished
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from config.http.cpu_budget import TooCostly, arrival_time, check_cpu
from config.server import threaded_handler
from config.server.threaded_handler import MAX_BUFFERED_BYTES, RerouteToHeavyLane, ThreadedHandler

seen: list[str] = []
BEGUN = time.monotonic()


def told(request: HttpRequest) -> HttpResponse:
    seen.append(threading.current_thread().name)
    response = HttpResponse(request.body.upper(), headers={"X-Said": request.headers.get("X-Say", "")})
    response.set_cookie("one", "1")
    response.set_cookie("two", "2")
    return response


def told_when(_: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{arrival_time() - BEGUN} {time.monotonic() - BEGUN}")


def streamed(_: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(iter([b"first ", b"second"]))


def filed(_: HttpRequest) -> FileResponse:
    return FileResponse(BytesIO(b"x" * (MAX_BUFFERED_BYTES + 5)), as_attachment=True, filename="x.bin")


def computed(request: HttpRequest) -> HttpResponse:
    """Compute until it is stopped."""
    read = len(request.body)
    try:
        while True:
            check_cpu()
    except TooCostly:
        return HttpResponse(f"stopped after {read} bytes", status=TooCostly.status)


def needed(_: HttpRequest) -> HttpResponse:
    """Ask for more CPU time than one process gives it, and for less than a request may have."""
    try:
        check_cpu(0.05)
    except TooCostly:
        return HttpResponse(status=TooCostly.status)
    return HttpResponse("done")


urlpatterns = [
    path("computed", computed),
    path("needed", needed),
    path("filed", filed),
    path("told", told),
    path("when", told_when),
    path("streamed", streamed),
]


@pytest.fixture(autouse=True)
def handler() -> Iterator[ThreadedHandler]:
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[], ALLOWED_HOSTS=["*"]):
        yield ThreadedHandler(threads=2)
    seen.clear()


def ask(
    handler: ThreadedHandler, where: str, *parts: dict[str, Any], headers: Any = (), **of_scope: Any
) -> list[dict[str, Any]]:
    """What the handler sends for a request that arrives in these parts."""
    sent: list[dict[str, Any]] = []
    arriving = iter(parts or [{"type": "http.request", "body": b""}])

    async def receive() -> dict[str, Any]:
        return next(arriving)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": where, "query_string": b"", "headers": list(headers)}
    scope |= of_scope
    asyncio.run(handler(scope, receive, send))
    return sent


def test_a_body_that_comes_in_parts_is_read_whole(handler: ThreadedHandler) -> None:
    first: dict[str, Any] = {"type": "http.request", "body": b"he", "more_body": True}
    parts = [first, {"type": "http.request", "body": b"llo"}]
    start, body = ask(handler, "/told", *parts, headers=[(b"x-say", b"hi"), (b"content-length", b"5")])
    assert start["status"] == 200
    assert (b"X-Said", b"hi") in start["headers"]
    assert [value.split(b";")[0] for name, value in start["headers"] if name == b"Set-Cookie"] == [b"one=1", b"two=2"]
    assert body["body"] == b"HELLO"


def test_a_response_in_pieces_is_sent_whole(handler: ThreadedHandler) -> None:
    assert ask(handler, "/streamed")[1]["body"] == b"first second"


def test_a_large_file_is_sent_piece_by_piece(handler: ThreadedHandler) -> None:
    start, *bodies = ask(handler, "/filed")
    assert (b"Content-Length", str(MAX_BUFFERED_BYTES + 5).encode()) in start["headers"]
    assert sum(len(body["body"]) for body in bodies) == MAX_BUFFERED_BYTES + 5
    assert max(len(body["body"]) for body in bodies) < MAX_BUFFERED_BYTES
    assert [body["more_body"] for body in bodies] == [True] * (len(bodies) - 1) + [False]


def test_a_request_came_in_before_its_turn_came(handler: ThreadedHandler) -> None:
    before = time.monotonic() - BEGUN
    came, answered = map(float, ask(handler, "/when")[1]["body"].split())
    assert before <= came < answered


def test_its_threads_stay_and_end_each_request(handler: ThreadedHandler) -> None:
    ended: list[str] = []

    def note(**_: Any) -> None:
        ended.append(threading.current_thread().name)

    request_finished.connect(note)
    for _ in range(3):
        ask(handler, "/told")
    request_finished.disconnect(note)
    assert ended == seen
    assert all(name.startswith("request") for name in seen)
    assert len(set(seen)) <= 2


def test_memory_goes_back_after_a_request_that_computed_for_long(
    handler: ThreadedHandler, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_refunded: list[str] = []
    monkeypatch.setattr(threaded_handler, "release_memory", lambda _: is_refunded.append("all"))
    monkeypatch.setattr(handler._garbage, "due_after", lambda _: 1)
    monkeypatch.setattr(gc, "collect", lambda generation: is_refunded.append(f"generation {generation}"))
    monkeypatch.setattr(threaded_handler, "TRIM_SECONDS", 60)
    ask(handler, "/told")
    monkeypatch.setattr(threaded_handler, "TRIM_SECONDS", 0)
    ask(handler, "/told")
    handler._threads.shutdown(wait=True)
    assert is_refunded == ["generation 1", "all"]


def test_a_client_that_goes_before_all_is_said_gets_nothing(handler: ThreadedHandler) -> None:
    half = {"type": "http.request", "body": b"he", "more_body": True}
    assert ask(handler, "/told", half, {"type": "http.disconnect"}) == []
    assert seen == []


def test_what_cannot_be_read_is_refused(handler: ThreadedHandler) -> None:
    assert ask(handler, "/told", headers=[(b"content-type", b"text/html; charset=\xff")])[0]["status"] in {200, 400}
    with pytest.raises(ValueError, match="websocket"):
        asyncio.run(handler({"type": "websocket"}, None, None))


@pytest.fixture
def budgeted() -> Iterator[ThreadedHandler]:
    with override_settings(MIDDLEWARE=["config.http.cpu_budget.CpuBudgetMiddleware"], REQUEST_CPU_MS=100):
        yield ThreadedHandler(threads=2)


def test_what_computes_too_long_here_is_stopped_and_sent_away_with_its_body(budgeted: ThreadedHandler) -> None:
    told_of: list[str] = []
    body = {"type": "http.request", "body": b"hello"}
    length = [(b"content-length", b"5")]
    with pytest.raises(RerouteToHeavyLane) as sent_away:
        ask(budgeted, "/computed", body, headers=length, cpu_seconds=0.01, on_long=lambda: told_of.append("long"))
    assert sent_away.value.body == b"hello"
    assert told_of == ["long"]


def test_what_would_compute_too_long_here_is_sent_away_before_it_begins(budgeted: ThreadedHandler) -> None:
    with pytest.raises(RerouteToHeavyLane):
        ask(budgeted, "/needed", cpu_seconds=0.02, on_long=list)
    assert ask(budgeted, "/needed")[0]["status"] == 200


def test_what_cannot_be_sent_away_has_its_whole_budget(budgeted: ThreadedHandler) -> None:
    start, body = ask(
        budgeted, "/computed", {"type": "http.request", "body": b"hello"}, headers=[(b"content-length", b"5")]
    )
    assert (start["status"], body["body"]) == (422, b"stopped after 5 bytes")


def test_what_ends_in_time_is_answered_here(budgeted: ThreadedHandler) -> None:
    start, _ = ask(budgeted, "/told", cpu_seconds=0.05, on_long=list)
    assert start["status"] == 200
