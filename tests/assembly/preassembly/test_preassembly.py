"""What an agent will probably ask for is read before it asks; its context is the same, and nothing else changes."""

import datetime
from dataclasses import replace
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from agents.models import Agent
from assembly.contexts.documents import assembly_document
from assembly.models import Assembly, Purpose
from assembly.models.assembly import packed
from assembly.pipeline.answer_cache import AssemblyResult, assembly_cache
from assembly.pipeline.read_cache import row_cache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.preassembly import idle_thread
from assembly.preassembly.idle_thread import Preassembly, is_idle, read_ahead, start_preassembly
from assembly.preassembly.prediction import expected_requests, recent_agents, records_at_this_time, records_following
from assembly.sources.base import ConversationTurn
from assembly.sources.search_reuse import forget_searches
from config.server.requests_in_progress import Activity
from memories.models import Session
from memories.services import MemoryFacts, memories_create
from teams.models import Team
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.assembly.one_of_each import everything

LEVELS = (("The porter", Sensitivity.INTERNAL), ("The treasurer", Sensitivity.RESTRICTED))
A, B, C = "How is the ink mixed?", "Who has the key of the attic?", "When does the ferry leave?"


@pytest.fixture(autouse=True)
def on(settings: Any, committed_database: str) -> None:
    settings.PREASSEMBLY = True
    row_cache.forget()


@pytest.fixture
def owners(on: None) -> tuple[Agent, Team]:
    return everything(timezone.now())


@pytest.fixture
def idle() -> Preassembly:
    return Preassembly(idle=lambda: True)


def ask(owners: tuple[Agent, Team], topic: str, **asked: Any) -> AssemblyResult:
    agent, team = owners
    wished = AssemblyRequest(topic=topic, purpose=asked.pop("purpose", Purpose.AGENT), **asked)
    return assemble(agent=agent, team=team, asked=wished, principal=SYSTEM)


def restarted() -> None:
    """As after a restart, and after the lifetime of answers."""
    row_cache.forget()
    forget_searches()
    assembly_cache._entries.clear()


def lookups() -> dict[str, float]:
    return {
        result: REGISTRY.get_sample_value("memory_preassembly_lookups_total", {"result": result}) or 0
        for result in ("hit", "miss")
    }


def hits_of(call: Any) -> tuple[float, float]:
    before = lookups()
    call()
    after = lookups()
    return after["hit"] - before["hit"], after["miss"] - before["miss"]


def topics(records: list[Any]) -> list[str]:
    return [one.asked.topic for one in expected_requests(records)]


def test_the_next_question_is_read_ahead_and_answered_as_without_it(
    owners: tuple[Agent, Team], idle: Preassembly
) -> None:
    for topic in (A, B, C, A, B, C):
        ask(owners, topic)
    restarted()
    ask(owners, A)
    recorded = Assembly.objects.count()
    assert idle.round() == 1
    assert Assembly.objects.count() == recorded, "nothing is recorded before anybody asks"
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B))) == (1, 0)
    [answer] = answers
    restarted()
    fresh = ask(owners, B, now=answer.assembly.now)
    assert fresh.assembly.decided_in is None
    assert fresh.content.encode() == answer.content.encode()
    assert fresh.decisions == answer.decisions
    told, again = (assembly_document(one) for one in (answer, fresh))
    different = {name for name in told if told[name] != again[name]}
    assert different <= {"id", "created_at", "now", "assembly_ms", "sources", "metadata"}


def test_what_changed_since_is_read_anew(owners: tuple[Agent, Team], idle: Preassembly) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    restarted()
    assert idle.round() == 1
    memories_create(owner=owners[0], facts=[MemoryFacts(kind="fact", text=f"{B} The porter.")], principal=SYSTEM)
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B))) == (0, 1)
    assert "The porter." in answers[0].content


def test_nothing_above_the_clearance_is_read_ahead(owners: tuple[Agent, Team], idle: Preassembly) -> None:
    agent, _ = owners
    facts = [MemoryFacts(kind="fact", text=f"{B} {word}.", sensitivity=level) for word, level in LEVELS]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    for topic in (A, B, A):
        ask(owners, topic)
    restarted()
    assert idle.round() == 1
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B))) == (1, 0)
    assert "The porter." in answers[0].content
    assert "The treasurer." not in answers[0].content


def test_a_hit_counts_once(owners: tuple[Agent, Team], idle: Preassembly) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    restarted()
    idle.round()
    assert hits_of(lambda: ask(owners, B)) == (1, 0)
    assert hits_of(lambda: ask(owners, B, max_tokens=900)) == (0, 1)


def test_a_process_that_is_busy_reads_nothing(owners: tuple[Agent, Team]) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    restarted()
    assert Preassembly(idle=lambda: False).round() == 0
    answers = iter([True, False])
    assert Preassembly(idle=lambda: next(answers)).round() == 0, "somebody asked meanwhile"


def test_the_same_is_read_ahead_once(owners: tuple[Agent, Team], idle: Preassembly) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    restarted()
    assert [idle.round(), idle.round()] == [1, 0]


def test_the_most_frequent_followers_come_first_and_none_of_another_agent(owners: tuple[Agent, Team]) -> None:
    other = Agent.objects.create(slug="other", name="Other")
    for topic in (A, C, A, B, A, B, A):
        ask(owners, topic)
    for topic in (A, "A secret of the other one", A):
        assemble(agent=other, asked=AssemblyRequest(topic=topic, purpose=Purpose.AGENT), principal=SYSTEM)
    assert topics(records_following(owners[0].id)) == [B, C]
    assert topics(records_following(other.id)) == ["A secret of the other one"]
    assert set(recent_agents()) == {owners[0].id, other.id}


def test_previews_and_requests_with_texts_of_their_own_are_not_expected(owners: tuple[Agent, Team]) -> None:
    ask(owners, A)
    ask(owners, B, purpose=Purpose.PREVIEW)
    ask(owners, A, max_tokens=2_000)
    ask(owners, B, history=(ConversationTurn("user", "hello"),))
    ask(owners, A)
    ask(owners, C, additional_context="Only today.")
    ask(owners, A)
    assert [topic for topic in topics(records_following(owners[0].id)) if topic != A] == []


def test_a_question_of_a_session_is_expected_in_the_present_one(owners: tuple[Agent, Team]) -> None:
    agent = owners[0]
    first, second = (
        Session.objects.create(agent=agent, external_id=name, started_at=timezone.now())
        for name in ("monday", "tuesday")
    )
    ask(owners, A, session="monday")
    ask(owners, B, session="monday")
    last = ask(owners, A, session="tuesday").assembly
    [expected] = expected_requests(records_following(agent.id), last.id)
    assert (expected.asked.topic, expected.asked.session) == (B, "tuesday")
    Session.objects.filter(id=second.id).delete()
    assert not read_ahead(expected), "its session is gone"
    assert first.external_id == "monday"


def test_what_is_asked_at_this_time_of_day_is_expected(owners: tuple[Agent, Team], idle: Preassembly) -> None:
    def stored(topic: str, **ago: float) -> None:
        row = ask(owners, topic).assembly
        again = Assembly(**{field.attname: getattr(row, field.attname) for field in Assembly._meta.concrete_fields})
        again.id, again.created = uuid4(), timezone.now() - datetime.timedelta(**ago)
        again.body = packed(row.contents)  # an encrypted one belongs to its own record
        again.save(force_insert=True)

    soon = 60 / 86_400
    stored(A, days=1 - soon)
    stored(A, days=7 - soon)
    stored(B, days=1 - soon)
    stored(C, days=1.1)
    stored(C, days=2.1)
    assert topics(records_at_this_time()) == [A]
    restarted()
    idle.round()
    assert hits_of(lambda: ask(owners, A)) == (1, 0)


def test_a_profile_with_an_external_source_is_not_read_ahead(owners: tuple[Agent, Team]) -> None:
    ask(owners, A)
    last = ask(owners, B).assembly
    [expected] = expected_requests([last.id])
    assert read_ahead(expected)
    assert not read_ahead(replace(expected, asked=replace(expected.asked, profile="gone")))


def test_a_process_is_idle_only_while_the_machine_is(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    activity = Activity()
    monkeypatch.setattr(idle_thread, "activity", activity)
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setattr(activity, "_ended", activity._ended - 3)
    assert is_idle()
    with activity.request():
        assert not is_idle()
    assert not is_idle()
    settings.PREASSEMBLY_IDLE_MS = 0
    assert is_idle()
    monkeypatch.setattr("os.getloadavg", lambda: (64.0, 0.0, 0.0))
    assert not is_idle()


def test_it_can_be_switched_off(settings: Any, owners: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    def start() -> None:
        with monkeypatch.context() as patched:  # others start threads, too
            patched.setattr("threading.Thread", lambda **_: Mock(start=lambda: started.append(1)))
            start_preassembly()

    settings.PREASSEMBLY = False
    start()
    assert started == []
    assert hits_of(lambda: ask(owners, A)) == (0, 0)
    settings.PREASSEMBLY = True
    start()
    assert len(started) == 1
