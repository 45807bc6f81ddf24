"""Asking endpoints: what a good one tells, what a bad one costs, and that nothing outlives its deadline."""

import gzip
import json
import logging
import socket
import threading
import time
from typing import Any

import pytest

from assembly.engine.codes import SourceCode
from assembly.sources.external.questions import ExternalAnswer, ExternalQuery
from config.http.outbound.client import MAX_BODY_BYTES
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import leaving_no_thread_behind
from tests.http_endpoints import GOOD, Endpoint, Handler, closed_port, giving, serving, told_of

pytestmark = pytest.mark.usefixtures("local")

SECRET = "quite-a-secret"
FAILED, LATE = SourceCode.SOURCE_FAILED, SourceCode.SOURCE_TIMEOUT


def asking(url: str, **facts: Any) -> ExternalQuery:
    given = {"limit": 5, "timeout_ms": 10_000, "secret": SECRET, "question": {"query": "ferry"}, "request_id": "r-1"}
    return ExternalQuery("tickets", NOW, url=url, **{**given, **facts})


def told_by(endpoint: Endpoint, seconds: float = 5.0, **facts: Any) -> ExternalAnswer:
    return told_of([asking(endpoint.url, **facts)], seconds=seconds)[0]


def fault_of(told: ExternalAnswer) -> tuple[SourceCode | None, str]:
    assert told.candidates == ()
    return told.code, told.fault


def test_a_good_answer_becomes_candidates() -> None:
    with serving(giving(GOOD)) as endpoint:
        told = told_by(endpoint)
    assert (told.section, told.name, told.limit, told.code, told.fault, told.left_out) == (
        "tickets", "external:tickets", 5, None, "", 0,
    )  # fmt: skip
    first, second = told.candidates
    assert (first.ref, first.section, first.kind, first.text) == (
        "external:tickets:7", "tickets", "notice", "The ferry is cancelled.",
    )  # fmt: skip
    assert (first.score, first.measures["relevance"]) == (0.9, 0.9)
    assert {first.origin, second.origin} == {"external"}
    assert first.measures["recency"] == pytest.approx(0.9592, abs=0.0001), "an hour before"
    assert (second.score, second.measures["relevance"]) == (0.5, 0.5), "by its place"
    assert second.labels == {"path": ("travel/today.md",), "tag": ("rail",)}
    assert (second.kind, second.occurred_at, second.measures["recency"]) == ("external", None, 0.0)


def test_what_is_above_the_clearance_is_withheld_and_changes_no_score() -> None:
    entries = [{"id": str(place), "text": "Trains run."} for place in range(3)]
    entries[0]["sensitivity"] = "restricted"
    with serving(giving({"results": entries})) as endpoint:
        above = told_by(endpoint, clearance=2)
        whole = told_by(endpoint, clearance=3)
    assert [(one.ref, one.score, one.sensitivity) for one in above.candidates] == [
        ("external:tickets:1", 1.0, 1), ("external:tickets:2", 0.5, 1),
    ]  # fmt: skip
    assert (above.withheld, above.left_out, whole.withheld) == (1, 0, 0)
    assert [one.sensitivity for one in whole.candidates] == [3, 1, 1]


def test_it_is_asked_as_the_contract_says() -> None:
    with serving(giving(GOOD)) as endpoint:
        told_by(endpoint, seconds=3.0)
    (seen,) = endpoint.seen
    assert (seen.path, seen.body["query"]) == ("/ask?of=tickets", "ferry")
    assert 0 < seen.body["deadline_ms"] <= 3_000
    headers = {name.lower(): value for name, value in seen.headers.items()}
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert (headers["x-request-id"], headers["accept-encoding"]) == ("r-1", "identity")
    assert (headers["host"], headers["content-type"]) == (f"127.0.0.1:{endpoint.port}", "application/json")
    assert not {"cookie", "traceparent"} & headers.keys()


def test_without_a_secret_nothing_is_sent_in_its_place() -> None:
    with serving(giving(GOOD)) as endpoint:
        told_by(endpoint, secret="")
    assert "Authorization" not in endpoint.seen[0].headers


def test_proxies_of_the_environment_are_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with serving(giving(GOOD)) as endpoint:
        assert told_by(endpoint).code is None


# --- answers that are of no use -----------------------------------------------------------------------------------


def drip(handler: Handler) -> None:
    handler.begin(Content_Length="1000")
    for _ in range(100):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def endless(handler: Handler) -> None:
    handler.begin()
    while True:
        handler.wfile.write(b" " * 65_536)


def silent(handler: Handler) -> None:
    handler.wait_until_gone()


def hangs_up(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def mail(handler: Handler) -> None:
    handler.wfile.write(b"220 mail.example.org ESMTP\r\n" * 3)


BOMB = gzip.compress(b" " * 50_000_000)
NO_JSON = "Its answer is not JSON in UTF-8."
NO_LIST = "Its answer lacks the list “results”."
TOO_LARGE = "Its answer is larger than 2,000,000 bytes."
BAD: dict[str, tuple[Any, str]] = {
    "endless": (endless, TOO_LARGE),
    "huge": (giving(b" " * (MAX_BODY_BYTES + 1)), TOO_LARGE),
    "a bomb": (giving(BOMB, Content_Encoding="gzip"), "Its answer is compressed. It must send it as it is."),
    "not JSON": (giving(b"<html>"), NO_JSON),
    "empty": (giving(b""), NO_JSON),
    "not UTF-8": (giving(b'{"results": ["\xff"]}'), NO_JSON),
    "UTF-16": (giving(json.dumps(GOOD).encode("utf-16")), NO_JSON),
    "NaN": (giving(b'{"results": [{"id": "1", "text": "x", "score": NaN}]}'), NO_JSON),
    "nested": (giving(b"[" * 500_000), NO_JSON),
    "a huge number": (giving(b'{"results": [' + b"9" * 10_000 + b"]}"), NO_JSON),
    "a list": (giving([]), NO_LIST),
    "no list": (giving({"results": {}}), NO_LIST),
    "null": (giving({"results": None}), NO_LIST),
    "a text": (giving("results"), NO_LIST),
    "500": (giving({}, 500), "It answered with status 500 instead of 200."),
    "404": (giving(GOOD, 404), "It answered with status 404 instead of 200."),
    "201": (giving(GOOD, 201), "It answered with status 201 instead of 200."),
    "401": (giving(GOOD, 401), "It answered with status 401: it does not accept the secret."),
    "hangs up": (hangs_up, "It broke off, or its answer is not HTTP."),
    "not HTTP": (mail, "It broke off, or its answer is not HTTP."),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_an_unusable_answer_is_a_fault_in_plain_words(kind: str) -> None:
    behave, fault = BAD[kind]
    with serving(behave) as endpoint:
        assert fault_of(told_by(endpoint)) == (FAILED, fault)


def test_a_redirect_is_not_followed() -> None:
    with serving(giving(GOOD)) as inner:
        for status in (301, 302, 307, 308):
            with serving(giving(b"", status, Location=inner.url)) as endpoint:
                code, fault = fault_of(told_by(endpoint))
            assert (code, fault) == (
                FAILED, f"It answered with status {status} instead of 200. Redirects are not followed.",
            )  # fmt: skip
    assert inner.seen == []


def test_an_answer_that_repeats_the_secret_is_not_used() -> None:
    def echo(handler: Handler) -> None:
        giving({"results": [{"id": "1", "text": f"You sent {handler.headers['Authorization']}."}]})(handler)

    with serving(echo) as endpoint:
        code, fault = fault_of(told_by(endpoint))
    assert (code, "repeats the secret" in fault, SECRET in fault) == (FAILED, True, False)


# --- deadlines ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("behave", [silent, drip], ids=["silent", "byte by byte"])
@pytest.mark.parametrize(("seconds", "timeout_ms"), [(0.3, 10_000), (5.0, 300)], ids=["the context's", "its own"])
def test_who_is_late_is_broken_off_and_hung_up_on(behave: Any, seconds: float, timeout_ms: int) -> None:
    with leaving_no_thread_behind(), serving(behave) as endpoint:
        started = time.monotonic()
        told = told_by(endpoint, seconds, timeout_ms=timeout_ms)
        took = time.monotonic() - started
        assert endpoint.gone.wait(5), "the connection is closed"
    assert fault_of(told) == (LATE, "It did not answer in time.")
    assert 0.2 < took < 5.0, "far from the ten seconds that the endpoint takes"  # bounds of a hang, not of speed


def test_a_slow_one_costs_the_others_nothing() -> None:
    with serving(silent) as slow, serving(giving(GOOD)) as good:
        askings = [asking(slow.url), asking(good.url), asking(f"http://127.0.0.1:{closed_port()}/")]
        told = told_of(askings, seconds=0.5)
    assert [one.code for one in told] == [LATE, None, FAILED]
    assert len(told[1].candidates) == 2


def test_a_name_server_that_hangs_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: hung.wait(10) and [])
    started = time.monotonic()
    told = told_of([asking("https://search.example.org/")], seconds=0.2)[0]
    took = time.monotonic() - started
    hung.set()
    assert fault_of(told) == (LATE, "It did not answer in time.")
    assert took < 5


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_without_any_time_nobody_is_asked(seconds: float) -> None:
    with serving(giving(GOOD)) as endpoint:
        assert told_by(endpoint, seconds).code is LATE
    assert endpoint.seen == []


# --- once more ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [giving({}, 502), giving({}, 503), giving({}, 504), hangs_up])
def test_what_may_pass_is_tried_once_more(first: Any) -> None:
    def behave(handler: Handler) -> None:
        (first if len(handler.endpoint.seen) == 1 else giving(GOOD))(handler)

    with serving(behave) as endpoint:
        told = told_by(endpoint)
    assert (told.code, len(told.candidates), len(endpoint.seen)) == (None, 2, 2)
    assert endpoint.seen[1].body["deadline_ms"] <= endpoint.seen[0].body["deadline_ms"]


@pytest.mark.parametrize(("status", "times"), [(503, 2), (500, 1), (404, 1), (429, 1)])
def test_and_no_more_than_once(status: int, times: int) -> None:
    with serving(giving({}, status)) as endpoint:
        code, fault = fault_of(told_by(endpoint))
    assert (code, str(status) in fault, len(endpoint.seen)) == (FAILED, True, times)


def test_not_when_half_of_the_time_is_gone() -> None:
    def late_503(handler: Handler) -> None:
        time.sleep(0.5)
        giving({}, 503)(handler)

    with serving(late_503) as endpoint:
        assert told_by(endpoint, seconds=0.8).code is FAILED
    assert len(endpoint.seen) == 1


def test_a_port_where_nobody_listens() -> None:
    told = told_of([asking(f"http://127.0.0.1:{closed_port()}/")], seconds=5.0)[0]
    assert fault_of(told) == (FAILED, "It could not be reached.")


# --- the rest -----------------------------------------------------------------------------------------------------


def test_an_asking_with_a_fault_is_told_as_it_is() -> None:
    told = told_of([ExternalQuery("tickets", NOW, fault="It is switched off.")], seconds=1.0)[0]
    assert fault_of(told) == (FAILED, "It is switched off.")
    assert told_of([], seconds=1.0) == []


def test_what_nobody_thought_of_costs_one_source_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("assembly.sources.external.http_queries.parse_answer", fail)
    with serving(giving(GOOD)) as endpoint:
        assert fault_of(told_by(endpoint)) == (FAILED, "It could not be reached (KeyError).")


def test_log_lines_name_the_source_and_nothing_that_was_sent_or_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(giving(GOOD)) as good, serving(giving({}, 500)) as bad:
        told_by(good)
        told_by(bad)
    ours = [record for record in caplog.records if record.name.startswith("assembly.sources.external")]
    assert [(record.levelname, record.getMessage()) for record in ours] == [
        ("INFO", "external source answered"),
        ("WARNING", "SOURCE_FAILED: It answered with status 500 instead of 200."),
    ]
    said = " ".join(record.getMessage() for record in caplog.records if record.levelno >= logging.INFO)
    assert not any(text in said for text in (SECRET, "ferry", good.url, "127.0.0.1"))


def test_a_repr_shows_neither_the_secret_nor_the_question() -> None:
    shown = repr(asking("https://search.example.org/?key=1"))
    assert not any(text in shown for text in (SECRET, "ferry", "search.example.org"))
