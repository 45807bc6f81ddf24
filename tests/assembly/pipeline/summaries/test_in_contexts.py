"""Summaries in a context: a good model's words, and the texts' own where it is down, slow or talks nonsense."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Assembly, StoredProfile, StoredSummary
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.records.warnings import warnings_of
from memories.models import Event, Session
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import leaving_no_thread_behind
from tests.assembly.pipeline.summaries.conftest import MODEL, ServerOf
from tests.assembly.pipeline.summaries.summary_factories import TEXT, saying
from tests.http_endpoints import Handler, closed_port

SAID = "The walk leads from the quay to the lighthouse and back."
PROFILE = """
budget: 600
over_budget: [summarise]
sections:
  - {key: identity, heading: Identity, layer: L1, source: agent_files, shape: text, required: true}
  - {key: results, heading: Tool Results, layer: L6, source: tool_results, shape: blocks}
"""
LATE = "The summariser timed out, so extracts of the texts are used."
FAILED = "The summariser failed, so extracts of the texts are used."


@pytest.fixture
def walker(luna: Agent) -> Agent:
    """Luna, with long outputs of tools that have no room together."""
    file_create(file=StoredProfile(name="short", content=PROFILE), author=SYSTEM.author)
    session = Session.objects.create(agent=luna, started_at=NOW)
    for number in range(3):
        content = {"output": f"Walk {number}. {TEXT * 8}"}
        Event.objects.create(
            agent=luna, session=session, type="tool_result", tool="walks", content=content, size=900, occurred_at=NOW
        )
    return luna


TIME_MS = 3_000


def told(walker: Agent, time_ms: int = 5_000, profile: str = "short") -> AssemblyResult:
    asked = AssemblyRequest(topic="The harbour walk", profile=profile, now=NOW, budgets=RequestBudgets(time_ms=time_ms))
    with leaving_no_thread_behind():
        return assemble(agent=walker, asked=asked, principal=SYSTEM)


def summariser(answer: AssemblyResult) -> dict[str, Any] | None:
    return next((source for source in answer.assembly.sources if source["name"] == "summariser"), None)


def test_what_a_model_says_is_told_and_kept(walker: Agent, server_of: ServerOf, settings: Any) -> None:
    with server_of(saying(SAID)) as endpoint:
        first = told(walker)
        asked = len(endpoint.seen)
        again = told(walker, time_ms=6_000)
        assert (asked > 0, len(endpoint.seen)) == (True, asked)
    assert (first.assembly.warnings, summariser(first)) == ([], None)
    assert SAID in first.content
    assert again.content == first.content
    assert first.assembly.request["summaries"]["made"] == again.assembly.request["summaries"]["known"] == asked
    assert StoredSummary.objects.filter(model=MODEL).count() == asked
    settings.SUMMARISER_URL = ""
    assert replay(load_record(Assembly.objects.get(id=first.assembly.id))).content == first.content


@pytest.mark.parametrize("most", [0, 1])
def test_a_profile_limits_the_texts_that_are_sent(walker: Agent, server_of: ServerOf, most: int) -> None:
    content = PROFILE.replace("sections:", f"summaries_max: {most}\nsections:")
    file_create(file=StoredProfile(name="sparing", content=content), author=SYSTEM.author)
    with server_of(saying(SAID)) as endpoint:
        answer = told(walker, profile="sparing")
        assert len(endpoint.seen) == most
    cost, summaries = answer.assembly.request["cost"], answer.assembly.request["summaries"]
    assert (cost["texts_sent"], summaries["made"], summaries["fell_back"] > 0) == (most, most, True)
    assert (cost["tokens_sent"] > 0, cost["tokens_received"] > 0) == (most > 0, most > 0)
    assert summariser(answer) is None
    assert (SAID in answer.content) == (most > 0)


@pytest.mark.parametrize(
    ("behave", "outcome"),
    [
        (
            lambda handler: handler.wait_until_gone(30),
            ("SOURCE_TIMEOUT", "It did not answer in time", LATE),
        ),
        (saying("A nul\x00."), ("SOURCE_FAILED", "It answered with characters that belong in no text.", FAILED)),
    ],
    ids=["asleep", "nonsense"],
)
def test_texts_stand_in_with_their_own_sentences(
    walker: Agent, server_of: ServerOf, behave: Callable[[Handler], None], outcome: tuple[str, str, str]
) -> None:
    own = told(walker)
    with server_of(behave):
        answer = told(walker, time_ms=TIME_MS)
    stood_in(own, answer, *outcome)


def test_so_they_do_where_nobody_listens(walker: Agent, server_of: ServerOf, settings: Any) -> None:
    own = told(walker)
    with server_of(saying(SAID)):
        settings.SUMMARISER_URL = f"http://127.0.0.1:{closed_port()}/v1"
        answer = told(walker, time_ms=TIME_MS)
    stood_in(own, answer, "SOURCE_FAILED", "It could not be reached.", FAILED)


def stood_in(own: AssemblyResult, answer: AssemblyResult, code: str, fault: str, message: str) -> None:
    assert "summarised" in {decision.code for decision in own.decisions}
    assert own.assembly.warnings == []
    assert answer.content == own.content
    assert [(warned.code, warned.message) for warned in warnings_of(answer.assembly)] == [(code, message)]
    report = summariser(answer)
    assert report
    assert report["code"] == code
    assert report["fault"].startswith(fault)
    assert 0 <= report["started_ms"] < report["deadline_ms"] <= 0.8 * TIME_MS
    assert answer.assembly.request["summaries"]["fell_back"] > 0
    assert not StoredSummary.objects.exists()
    assert replay(load_record(Assembly.objects.get(id=answer.assembly.id))).identical
