"""The heavy lane: which requests go there, and how they and their answers travel."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from pathlib import Path
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any

import pytest

from config.http.problems import Busy
from config.server import heavy_lane, heavy_routes
from config.server.admission import FrontApplication, OpenGate
from config.server.callers import Caller, CallerCache, credential_of
from config.server.heavy_lane import FRAME_BYTES, Application, HeavyLane, answer_one
from config.server.heavy_routes import HEAVY_BODY_BYTES, HeavyRoutes
from config.server.threaded_handler import RerouteToHeavyLane

pytestmark = pytest.mark.finding("3b")

ID = "0193c5a0-0000-7000-8000-000000000000"


def scope_of(path: str, method: str = "POST", **headers: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "client": ("192.0.2.7", 5000),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "state": object(),
    }


def exchange(
    lane: Callable[..., Awaitable[None]], scope: dict[str, Any], *parts: bytes
) -> Callable[[], Coroutine[Any, Any, list[dict[str, Any]]]]:
    """What is sent back for a request whose body arrives in these parts."""

    async def story() -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        arriving = [
            {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
            for number, part in enumerate(parts)
        ]

        async def receive() -> dict[str, Any]:
            if arriving:
                return arriving.pop(0)
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await lane(scope, receive, send)
        return sent

    return story


def with_other_process(path: Path, application: Application, story: Callable[[], Awaitable[Any]]) -> Any:
    """What the story returns while the application answers at the path."""

    async def both() -> Any:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await answer_one(application, reader, writer)

        async with await asyncio.start_unix_server(answer, path):
            return await asyncio.wait_for(story(), 20)

    return asyncio.run(both())


async def repeat(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer with the body that came."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    scope["facts"] = {"principal": "key:1", "kind": "agent_key", "agent": "2", "teams": ["3"], "seconds": 1.5}
    await send({"type": "http.response.start", "status": 201, "headers": [(b"x-said", scope["headers"][0][1])]})
    await send({"type": "http.response.body", "body": body})


def test_a_request_and_its_answer_travel_whole(tmp_path: Path) -> None:
    socket, scope = tmp_path / "s", scope_of("/api/v1/compress", x_say="hi")
    large = b"x" * (2 * FRAME_BYTES + 5)
    start, *bodies = with_other_process(socket, repeat, exchange(HeavyLane(str(socket)), scope, b"first ", large))
    assert (start["status"], [tuple(pair) for pair in start["headers"]]) == (201, [(b"x-said", b"hi")])
    assert b"".join(body["body"] for body in bodies) == b"first " + large
    assert [body.get("more_body", False) for body in bodies] == [True, True, False]
    assert scope["facts"]["seconds"] == 1.5


def test_one_that_is_away_is_waited_for_and_then_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_lane, "CONNECT_SECONDS", 0.3)
    story = exchange(HeavyLane(str(tmp_path / "nobody")), scope_of("/api/v1/compress"), b"")
    with pytest.raises(Busy, match="being restarted"):
        asyncio.run(asyncio.wait_for(story(), 20))


def test_one_that_dies_at_work_is_told_of(tmp_path: Path) -> None:
    async def die(scope: dict[str, Any], receive: Any, send: Any) -> None:
        raise ConnectionError

    socket = tmp_path / "s"
    with pytest.raises(Busy, match="just restarted"):
        with_other_process(socket, die, exchange(HeavyLane(str(socket)), scope_of("/api/v1/compress"), b""))


def test_a_process_that_ends_before_it_took_a_request_is_followed_by_the_next(tmp_path: Path) -> None:
    socket, scope, connections = tmp_path / "s", scope_of("/api/v1/compress", x_say="hi"), []

    async def story() -> list[dict[str, Any]]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connections.append(writer)
            if len(connections) == 1:
                writer.close()
            else:
                await answer_one(repeat, reader, writer)

        async with await asyncio.start_unix_server(answer, socket):
            return await asyncio.wait_for(exchange(HeavyLane(str(socket)), scope, b"text")(), 20)

    start, body = asyncio.run(story())
    assert (start["status"], body["body"], len(connections)) == (201, b"text", 2)


def test_an_answer_has_left_the_process_before_it_counts_as_given(tmp_path: Path) -> None:
    async def answer_at_length(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.body", "body": b"x" * 50_000})

    unsent: list[int] = []

    async def story() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_SNDBUF, 4_096)
            await answer_one(answer_at_length, reader, writer)
            unsent.append(writer.transport.get_write_buffer_size())

        async with await asyncio.start_unix_server(answer, tmp_path / "s"):
            reader, writer = await asyncio.open_unix_connection(tmp_path / "s", limit=1_000)
            for message in ({"type": "http", "headers": []}, {"type": "http.request"}):
                await heavy_lane._write(writer, message)
            await asyncio.sleep(0.3)  # nobody reads meanwhile
            await reader.read()
            writer.close()

    asyncio.run(asyncio.wait_for(story(), 20))
    assert unsent == [0]


@pytest.mark.parametrize("goes", [True, False])
def test_who_goes_in_the_middle_of_an_answer_is_no_fault_of_the_process(tmp_path: Path, goes: bool) -> None:
    begun = asyncio.Event()

    async def begin(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if goes:
            await asyncio.Event().wait()
        raise ConnectionError

    async def story() -> None:
        arriving: list[dict[str, Any]] = [
            {"type": "http.disconnect"},
            {"type": "http.request", "body": b"", "more_body": False},
        ]

        async def receive() -> dict[str, Any]:
            if len(arriving) == 1:
                await begun.wait()
                if not goes:
                    await asyncio.Event().wait()
            return arriving.pop()

        async def send(message: dict[str, Any]) -> None:
            begun.set()

        await HeavyLane(str(socket))(scope_of("/api/v1/compress"), receive, send)

    socket = tmp_path / "s"
    with nullcontext() if goes else pytest.raises(ConnectionError, match="in the middle"):
        with_other_process(socket, begin, story)


def test_work_is_given_up_when_the_client_goes(tmp_path: Path) -> None:
    given_up = asyncio.Event()

    async def work(scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()

    async def story() -> None:
        waiting: asyncio.Task[Any] = asyncio.create_task(
            exchange(HeavyLane(str(socket)), scope_of("/api/v1/compress"), b"")()
        )
        await asyncio.sleep(0.2)
        waiting.cancel()
        await asyncio.wait_for(given_up.wait(), 10)

    socket = tmp_path / "s"
    with_other_process(socket, work, story)


@pytest.mark.parametrize(
    ("method", "path", "heavy"),
    [
        ("POST", "/api/v1/assemblies", False),
        ("POST", "/api/v1/agents/luna/memories", False),
        ("POST", "/api/v1/agents/luna/memories/search", False),
        ("GET", "/agents/luna/", False),
        ("GET", f"/contexts/{ID}/", False),
        ("POST", "/api/v1/compress", True),
        ("POST", f"/api/v1/assemblies/{ID}/why-not", True),
        ("POST", f"/api/v1/assemblies/{ID}/what-if", True),
        ("POST", "/api/v1/draft-previews", True),
        ("POST", "/api/v1/rules/recall-tests", True),
        ("POST", "/import/", True),
        ("GET", f"/import/{ID}/", True),
        ("POST", f"/api/v1/import/{ID}/apply", True),
        ("GET", "/api/v1/agents/luna/export", True),
        ("GET", "/agents/luna/files/IDENTITY/history/compare/", True),
        ("GET", "/agents/luna/as-of/", True),
    ],
)
def test_costly_routes_are_told_by_address(method: str, path: str, heavy: bool) -> None:
    assert heavy_routes.is_heavy(scope_of(path, method), 100) is heavy


def test_large_bodies_are_costly_everywhere() -> None:
    assert heavy_routes.is_heavy(scope_of("/api/v1/assemblies"), HEAVY_BODY_BYTES + 1)


def test_what_was_costly_for_one_caller_is_so_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    routes, other_day = HeavyRoutes(), "/agents/luna/logs/2026-03-02/"
    routes.learn("key:1", "/agents/luna/logs/2026-03-01/", 3.0)
    assert routes.was_heavy("key:1", other_day)
    assert not routes.was_heavy("key:2", other_day), "others' pages are as quick as before"
    assert not routes.was_heavy("key:1", "/agents/luna/")
    monkeypatch.setattr(heavy_routes, "REMEMBERED_SECONDS", -1.0)
    assert not routes.was_heavy("key:1", other_day)


def test_one_slow_moment_makes_no_route_costly() -> None:
    routes = HeavyRoutes()
    routes.learn("key:1", "/api/v1/assemblies", 0.4)
    assert not routes.was_heavy("key:1", "/api/v1/assemblies")
    for _ in range(5):
        routes.learn("key:1", "/api/v1/assemblies", 0.4)
    assert routes.was_heavy("key:1", "/api/v1/assemblies")
    for _ in range(10):
        routes.learn("key:1", "/api/v1/assemblies", 0.002)
    assert not routes.was_heavy("key:1", "/api/v1/assemblies")


def test_middling_requests_of_a_costly_caller_are_costly_too() -> None:
    """Each keeps others waiting a little, again and again. Those of anybody else are answered where they come in."""
    routes, search = HeavyRoutes(), "/api/v1/agents/luna/memories/search"
    for _ in range(10):
        routes.learn("key:1", search, 0.17)
    assert not routes.was_heavy("key:1", search)
    routes.learn("key:1", "/api/v1/assemblies", 1.0)
    routes.learn("key:1", search, 0.17)
    assert routes.was_heavy("key:1", search)
    for _ in range(10):
        routes.learn("key:1", search, 0.01)
    assert not routes.was_heavy("key:1", search)


def test_the_front_hands_over_what_is_costly_and_learns_who_asked(tmp_path: Path) -> None:
    here: list[str] = []

    async def answer_here(scope: dict[str, Any], receive: Any, send: Any) -> None:
        here.append(scope["caller"])
        await repeat(scope, receive, send)

    socket = tmp_path / "s"
    front = FrontApplication(answer_here, HeavyLane(str(socket)), OpenGate())
    costly = scope_of("/api/v1/compress", authorization="Bearer one")
    with_other_process(socket, repeat, exchange(front, costly, b""))
    assert (costly["caller"], here) == ("address:192.0.2.7", [])
    asyncio.run(asyncio.wait_for(exchange(front, scope_of("/api/v1/agents", authorization="Bearer one"), b"")(), 20))
    assert here == ["key:1"], "its key proved itself in the heavy process"


def test_what_waits_behind_a_long_request_of_its_caller_is_handed_over(tmp_path: Path) -> None:
    heavy: list[str] = []

    async def answer_here(scope: dict[str, Any], receive: Any, send: Any) -> None:
        scope["on_long"]()
        raise RerouteToHeavyLane(b"small")

    async def answer_there(scope: dict[str, Any], receive: Any, send: Any) -> None:
        heavy.append(scope["path"])
        await repeat(scope, receive, send)

    async def story() -> list[dict[str, Any]]:
        await exchange(front, scope_of("/api/v1/agents", x="1"), b"small")()
        return await exchange(front, scope_of("/api/v1/agents", x="1"), b"other")()

    socket = tmp_path / "s"
    front = FrontApplication(answer_here, HeavyLane(str(socket)), OpenGate())
    _, answer = with_other_process(socket, answer_there, story)
    assert heavy == ["/api/v1/agents"] * 2
    assert answer["body"] == b"other", "the second went there at once"


@pytest.mark.parametrize(
    ("scope", "is_bounded"),
    [
        (scope_of("/api/v1/agents", x="1"), True),
        (scope_of("/agents/luna/", "GET", x="1"), True),
        (scope_of("/accounts/login/", x="1"), False),
        (scope_of("/agents/luna/files/IDENTITY/", x="1"), False),
    ],
)
def test_only_what_may_begin_again_is_stopped_soon(tmp_path: Path, scope: dict[str, Any], is_bounded: bool) -> None:
    """Whoever posts a page may have used up a code, or counted a sign-in, before it was stopped."""
    front = FrontApplication(repeat, HeavyLane(str(tmp_path / "s")), OpenGate())
    asyncio.run(asyncio.wait_for(exchange(front, scope, b"")(), 20))
    assert ("cpu_seconds" in scope) is is_bounded


def test_a_request_that_moved_counts_once(tmp_path: Path) -> None:
    admitted: list[tuple[bool, bool]] = []

    class Gate(OpenGate):
        def admit(self, caller: Caller, *, heavy: bool, method: str, path: str, moved: bool = False) -> Any:
            admitted.append((heavy, moved))
            return super().admit(caller, heavy=heavy, method=method, path=path, moved=moved)

    async def answer_here(scope: dict[str, Any], receive: Any, send: Any) -> None:
        raise RerouteToHeavyLane(b"")

    socket = tmp_path / "s"
    front = FrontApplication(answer_here, HeavyLane(str(socket)), Gate())
    with_other_process(socket, repeat, exchange(front, scope_of("/api/v1/agents"), b""))
    assert admitted == [(False, False), (True, True)]


def test_made_up_credentials_count_as_their_address() -> None:
    callers, made_up = CallerCache(), scope_of("/api/v1/agents", authorization="Bearer made-up")
    assert callers.caller_of(made_up, credential_of(made_up)).name == "address:192.0.2.7"
    facts = {"principal": "key:1", "kind": "agent_key", "agent": "2", "teams": ["3"]}
    callers.learn(credential_of(made_up), facts)
    assert callers.caller_of(made_up, credential_of(made_up)).subjects == ("key:1", "agent:2", "team:3")
    callers.learn(credential_of(made_up), {"principal": ""})  # it was revoked
    assert callers.caller_of(made_up, credential_of(made_up)).subjects == ()


def test_a_session_is_a_credential_of_pages_alone() -> None:
    page = scope_of("/agents/", "GET", cookie="theme=dark; sessionid=abc")
    same = scope_of("/teams/", "GET", cookie="sessionid=abc; theme=light")
    assert credential_of(page) == credential_of(same) != b""
    assert credential_of(scope_of("/api/v1/agents", "GET", cookie="sessionid=abc")) == b""
    assert credential_of(scope_of("/agents/", "GET", authorization="Bearer x")) == b""
