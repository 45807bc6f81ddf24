"""External sources in a context: asked while the database is read, and never waited for longer than the request has."""

from collections.abc import Callable, Iterator
from threading import Event as Signal
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import StoredProfile
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.records.warnings import warnings_of
from assembly.sources.base import SourceResult
from assembly.sources.external import http_queries
from assembly.sources.external.services import ExternalSourceConfig, external_source_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.failing_sources import leaving_no_thread_behind, raising, replaced
from tests.http_endpoints import GOOD, Handler, closed_port, giving, serving

pytestmark = pytest.mark.usefixtures("local", "_town")

PROFILE = """
sections:
  - {key: identity, heading: Identity, layer: L1, source: agent_files, shape: text, required: true}
  - {key: tickets, heading: Tickets, layer: L6, source: external, shape: blocks}
  - {key: notices, heading: Notices, layer: L6, source: external, shape: blocks}
  - {key: threads, heading: Threads, layer: L6, source: threads, shape: blocks}
  - {key: knowledge, heading: Knowledge, layer: L7, source: agent_files, shape: text}
"""


@pytest.fixture
def _town(luna: Agent) -> Iterator[None]:
    """A profile with two external sections."""
    file_create(file=StoredProfile(name="town", content=PROFILE), author=SYSTEM.author)
    with leaving_no_thread_behind():
        yield


def register(**urls: str) -> None:
    for name, url in urls.items():
        facts = ExternalSourceConfig(name.title(), url, timeout_ms=10_000)
        external_source_create(name=name, facts=facts, secret="", principal=SYSTEM)


def told(luna: Agent, time_ms: int = 5_000) -> AssemblyResult:
    asked = AssemblyRequest(topic="Is the ferry late?", profile="town", budgets=RequestBudgets(time_ms=time_ms))
    return assemble(agent=luna, asked=asked, principal=SYSTEM)


def report(answer: AssemblyResult, name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (source for source in answer.assembly.sources if source["name"] == name)
    return found


def waiting_to_be_let_go(asleep: Signal) -> Callable[[Handler], None]:
    def behave(handler: Handler) -> None:
        asleep.set()
        handler.wait_until_gone(30)

    return behave


def test_it_is_asked_while_the_database_is_read(luna: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint answers once a source of the database has begun, and that one ends once the endpoint was asked."""
    reading, asked = Signal(), Signal()

    def answering(handler: Handler) -> None:
        asked.set()
        assert reading.wait(4)
        giving(GOOD)(handler)

    def threads(*_: Any) -> SourceResult:
        reading.set()
        assert asked.wait(4)
        return SourceResult((), 0)

    replaced(monkeypatch, "threads", threads)
    with serving(answering) as endpoint, serving(giving({"results": []})) as other:
        register(tickets=endpoint.url, notices=other.url)
        answer = told(luna)
    assert answer.assembly.warnings == []
    assert "The ferry is cancelled." in answer.content
    assert (report(answer, "external:tickets")["count"], report(answer, "external:notices")["count"]) == (2, 0)


def test_one_that_sleeps_and_one_that_is_down_cost_themselves_alone(luna: Agent) -> None:
    asleep = Signal()
    with serving(waiting_to_be_let_go(asleep)) as endpoint:
        register(tickets=endpoint.url, notices=f"http://127.0.0.1:{closed_port()}/")
        answer = told(luna, 600)
        assert asleep.is_set()
        assert endpoint.gone.wait(10), "the socket is closed"
    late, down = report(answer, "external:tickets"), report(answer, "external:notices")
    assert (late["code"], late["fault"]) == ("SOURCE_TIMEOUT", "It did not answer in time.")
    assert (down["code"], down["fault"]) == ("SOURCE_FAILED", "It could not be reached.")
    assert late["started_ms"] <= late["deadline_ms"] <= 480
    assert [(warned.code, warned.message.partition(":")[0]) for warned in warnings_of(answer.assembly)] == [
        ("SOURCE_TIMEOUT", "tickets"),
        ("SOURCE_FAILED", "notices"),
    ]
    assert answer.content == (
        "## Identity\nYou are Luna.\n\n## Knowledge\nStories have a beginning."
        "\n\nNot available at the moment: Tickets, Notices. What is known there may be missing above."
    )
    assert replay(load_record(answer.assembly)).identical


def test_an_answer_that_has_arrived_stays_where_the_thread_is_late(
    luna: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = Signal()
    monkeypatch.setattr(http_queries, "CLOSING_SECONDS", -1.0)  # it does not break off in time
    with serving(waiting_to_be_let_go(asleep)) as endpoint, serving(giving(GOOD)) as good:
        register(tickets=endpoint.url, notices=good.url)
        answer = told(luna, 600)
        assert endpoint.gone.wait(10), "the socket is closed"
    assert report(answer, "external:tickets")["code"] == "SOURCE_TIMEOUT"
    assert report(answer, "external:notices")["code"] is None
    assert "The ferry is cancelled." in answer.content


def test_what_comes_from_outside_is_never_answered_from_the_cache(luna: Agent) -> None:
    with serving(giving(GOOD)) as endpoint:
        register(tickets=endpoint.url, notices=endpoint.url)
        answers = [told(luna) for _ in range(2)]
    assert len(endpoint.seen) == 4
    assert [answer.assembly.request.get("repeats") for answer in answers] == [None, None]


def test_it_is_asked_once_although_the_rest_is_read_anew(luna: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, "threads", raising)
    with serving(giving(GOOD)) as endpoint:
        register(tickets=endpoint.url, notices=endpoint.url)
        answer = told(luna)
    assert len(endpoint.seen) == 2
    assert answer.assembly.warnings == ["SOURCE_FAILED"]
    assert "The ferry is cancelled." in answer.content


def test_a_second_round_asks_with_the_missing_names_and_the_same_limit(luna: Agent) -> None:
    content = PROFILE.replace("sections:", "second_round: true\nsections:")
    file_create(file=StoredProfile(name="twice", content=content), author=SYSTEM.author)

    def answering(handler: Handler) -> None:
        asked = handler.endpoint.seen[-1].body["query"]
        giving({"results": [{"id": "9", "text": "Ask Otto Brandt."}]} if "Otto" in asked else GOOD)(handler)

    with serving(answering) as endpoint, serving(giving({"results": []})) as other:
        register(tickets=endpoint.url, notices=other.url)
        asked = AssemblyRequest(topic="Is the ferry late?", profile="twice", entities=("Otto Brandt",))
        answer = assemble(agent=luna, asked=asked, principal=SYSTEM)
        bodies = [one.body for one in endpoint.seen]
    assert [body["query"] for body in bodies] == ["Is the ferry late?", "Is the ferry late? Otto Brandt"]
    assert bodies[0]["limit"] == bodies[1]["limit"]
    assert "The ferry is cancelled." in answer.content
    assert "Ask Otto Brandt." in answer.content
    told = answer.assembly.request["second_round"]
    assert {one["name"]: one["added"] for one in told["sources"]} == {"external:tickets": 1, "external:notices": 0}
    assert report(answer, "external:tickets")["count"] == 2


def test_a_second_round_does_not_ask_an_endpoint_that_failed(luna: Agent) -> None:
    content = PROFILE.replace("sections:", "second_round: true\nsections:")
    file_create(file=StoredProfile(name="twice", content=content), author=SYSTEM.author)
    with serving(giving({"results": []})) as endpoint:
        register(tickets=endpoint.url, notices=f"http://127.0.0.1:{closed_port()}/")
        asked = AssemblyRequest(topic="Is the ferry late?", profile="twice", entities=("Otto Brandt",))
        told = assemble(agent=luna, asked=asked, principal=SYSTEM).assembly.request["second_round"]
    assert [one["name"] for one in told["sources"]] == ["external:tickets"]
    assert told["outcome"] == "nothing_new"
