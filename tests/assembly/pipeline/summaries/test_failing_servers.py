"""A summariser that is down, slow or talks nonsense costs its deadline at most, and never the summary."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from assembly.engine.codes import SourceCode
from assembly.pipeline.summaries.prompt import INSTRUCTIONS
from assembly.pipeline.summaries.services import Summaries
from assembly.records.summaries import EXTRACTIVE
from config.http.outbound.client import MAX_BODY_BYTES
from tests.assembly.pipeline.summaries.conftest import KEY, MODEL, ServerOf
from tests.assembly.pipeline.summaries.summary_factories import (
    COUNTER,
    SUMMARY,
    TEXT,
    completion,
    saying,
    summaries_of,
    want,
    wants_of,
)
from tests.http_endpoints import Handler, closed_port, giving

pytestmark = pytest.mark.django_db
FAILED, LATE = SourceCode.SOURCE_FAILED, SourceCode.SOURCE_TIMEOUT


def sleeping(handler: Handler) -> None:
    handler.wait_until_gone(30)


def endless(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b" " * 65_536)


def trickling(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.05)


def echoing(handler: Handler) -> None:
    sent = handler.endpoint.seen[-1].body["messages"]
    handler.answer(str(sent).encode())


def repeating(place: int) -> Callable[[Handler], None]:
    def behave(handler: Handler) -> None:
        giving(completion(handler.endpoint.seen[-1].body["messages"][place]["content"]))(handler)

    return behave


def fell_back(summaries: Summaries) -> str:
    """The fault, once it is sure that there is a summary nevertheless."""
    (summary,) = summaries.by_item.values()
    assert summary.model == EXTRACTIVE
    assert 0 < COUNTER.count(summary.text) <= 30
    assert (summaries.made, summaries.known, summaries.fell_back, summaries.model) == (0, 0, 1, MODEL)
    return summaries.fault


@pytest.mark.parametrize(
    ("behave", "fault"),
    [
        (giving({"error": "overloaded"}, 500), "It answered with status 500 instead of 200."),
        (giving({"error": "who?"}, 401), "It answered with status 401: it does not accept the key."),
        (giving(b"", 302, Location="http://127.0.0.1/"), "It answered with status 302 instead of 200."),
        (giving(b"<html>Welcome</html>"), "Its answer is not JSON."),
        (giving(b"\xff\xfe"), "Its answer is not JSON."),
        (giving(b"[" * 100_000), "Its answer is not JSON."),
        (echoing, "Its answer is not JSON."),
        (giving([]), "Its answer is JSON, but no chat completion."),
        (giving({"choices": []}), "Its answer is JSON, but no chat completion."),
        (giving({"choices": ["x"]}), "Its answer is JSON, but no chat completion."),
        (giving({"choices": [{"message": None}]}), "Its answer is JSON, but no chat completion."),
        (saying(None), "It answered with an empty summary."),
        (saying(["x"]), "It answered with an empty summary."),
        (saying(" \n "), "It answered with an empty summary."),
        (saying("Broken off in the mid", "length"), "It answered with an empty summary."),
        (saying("A nul\x00."), "It answered with characters that belong in no text."),
        (saying("An escape\x1b[31m."), "It answered with characters that belong in no text."),
        (saying("A half \ud800."), "It answered with characters that belong in no text."),
        (saying("More and more. " * 100), "It answered with a summary that is no shorter than the text."),
        (saying(TEXT), "It answered with a summary that is no shorter than the text."),
        (saying(f"Sure! {INSTRUCTIONS[1]}"), "It repeated what it was told instead of summarising."),
        (repeating(0), "It repeated what it was told instead of summarising."),
        (repeating(1), "It repeated what it was told instead of summarising."),
        (saying(f"You sent {KEY}."), "Its answer repeats the key that it was sent."),
        (endless, f"Its answer is larger than {MAX_BODY_BYTES:,} bytes."),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "It broke off, or its answer is not HTTP."),
        (lambda _: None, "It broke off, or its answer is not HTTP."),
    ],
)
def test_nonsense_is_told_from_a_summary(behave: Callable[[Handler], None], fault: str, server_of: ServerOf) -> None:
    with server_of(behave):
        summaries = summaries_of(want())
    assert fell_back(summaries) == f"{fault} (1 of 1 texts failed.)"
    assert summaries.code is FAILED


def test_a_server_that_is_down_is_named_without_its_address(
    settings: Any, server_of: ServerOf, caplog: pytest.LogCaptureFixture
) -> None:
    settings.SUMMARISER_URL = f"http://127.0.0.1:{closed_port()}/v1"
    with caplog.at_level(logging.INFO):
        summaries = summaries_of(want())
    assert fell_back(summaries) == "It could not be reached. (1 of 1 texts failed.)"
    assert (summaries.code, "127.0.0.1" in caplog.text, KEY in caplog.text) == (FAILED, False, False)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_host_that_is_not_known_is_not_reached(settings: Any, server_of: ServerOf) -> None:
    settings.SUMMARISER_URL = "http://nowhere.invalid/v1"
    assert fell_back(summaries_of(want())).startswith("It could not be reached.")


@pytest.mark.parametrize("behave", [sleeping, trickling])
@pytest.mark.parametrize(("timeout_ms", "seconds"), [(300, 10.0), (10_000, 0.3)])
def test_a_slow_server_is_left_in_time_and_nothing_of_it_stays(
    behave: Callable[[Handler], None], timeout_ms: int, seconds: float, server_of: ServerOf, settings: Any
) -> None:
    settings.SUMMARISER_TIMEOUT_MS = timeout_ms
    with server_of(behave) as endpoint:
        before, started = set(threading.enumerate()), time.perf_counter()
        summaries = summaries_of(want(), seconds=seconds)
        assert time.perf_counter() - started < 5, "of the 30 s that the server takes"
        ours = {thread for thread in set(threading.enumerate()) - before if "process_request" not in thread.name}
        assert not ours
        assert endpoint.gone.wait(5), "the server sees that the client hung up"
    assert fell_back(summaries) == "It did not answer in time (1 of 1 texts)."
    assert summaries.code is LATE


def test_what_came_in_time_is_used(server_of: ServerOf, settings: Any) -> None:
    settings.SUMMARISER_TIMEOUT_MS = 500
    slow = wants_of(4)[2]

    def behave(handler: Handler) -> None:
        asked = handler.endpoint.seen[-1].body["messages"][1]["content"]
        sleeping(handler) if slow.text in asked else saying(SUMMARY)(handler)

    settings.SUMMARISER_CONCURRENCY = 1  # else the handler could not tell whose turn it is
    with server_of(behave):
        summaries = summaries_of(*[*wants_of(4)[:2], wants_of(4)[3], slow])
    assert (summaries.made, summaries.fell_back) == (3, 1)
    assert summaries.by_item[slow.section, slow.ref].model == EXTRACTIVE
    assert summaries.fault == "It did not answer in time (1 of 4 texts)."


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_without_time_it_is_not_asked(seconds: float, server_of: ServerOf) -> None:
    with server_of(saying(SUMMARY)) as endpoint:
        summaries = summaries_of(want(), seconds=seconds)
    assert (endpoint.seen, fell_back(summaries)) == ([], "It did not answer in time (1 of 1 texts).")


def test_a_name_server_that_hangs_is_not_waited_for(
    server_of: ServerOf, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SUMMARISER_URL, settings.SUMMARISER_TIMEOUT_MS = "http://models.example.org/v1", 200
    released = threading.Event()

    def hang(*_: Any, **__: Any) -> list[Any]:
        released.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    started = time.perf_counter()
    summaries = summaries_of(want())
    released.set()
    assert time.perf_counter() - started < 5
    assert (fell_back(summaries), summaries.code) == ("It did not answer in time (1 of 1 texts).", LATE)


def test_an_address_that_refuses_leaves_the_next_its_turn(
    server_of: ServerOf, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1")]
    with server_of(saying(SUMMARY)) as endpoint:
        settings.SUMMARISER_URL = f"http://models.example.org:{endpoint.port}/v1"
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        assert summaries_of(want()).made == 1
    assert endpoint.seen[0].headers["Host"] == f"models.example.org:{endpoint.port}"


def test_no_proxy_of_the_environment_is_asked(server_of: ServerOf, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with server_of(saying(SUMMARY)):
        assert summaries_of(want()).made == 1


def test_what_breaks_off_ends_with_its_last_whole_sentence(server_of: ServerOf) -> None:
    with server_of(saying("The walk leads to the lighthouse. From there it tur", "length")):
        (summary,) = summaries_of(want()).by_item.values()
    assert summary.text == "The walk leads to the lighthouse."
