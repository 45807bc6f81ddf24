"""What an agent will probably ask for is read by a worker before it asks; its context is the same, and nothing else
changes.
"""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.contexts.documents import assembly_document
from assembly.models import Assembly
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.pipeline.shared_answers import shared_answers
from assembly.pipeline.shared_readings import decode_readings, encode_readings, share_readings
from assembly.preassembly import reading_ahead
from assembly.preassembly.expected import ExpectedRequest, expected_requests
from assembly.preassembly.reading_ahead import Preassembly, preassemble, read_ahead
from assembly.sources.readings import Readings
from memories.services import MemoryFacts, memories_create
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity
from tests.assembly.pipeline.edits import EDITS
from tests.assembly.preassembly.scene import A, B, C, Owners, ask, hits_of, lookups_of

LEVELS = (("The porter", Sensitivity.INTERNAL), ("The treasurer", Sensitivity.RESTRICTED))


def expected(owners: Owners, topic: str, **asked: Any) -> ExpectedRequest:
    [found] = expected_requests([ask(owners, topic, **asked).assembly.id])
    return found


@pytest.mark.parametrize("profile", ["", "stack", "coding"])
def test_the_next_question_is_read_ahead_and_answered_as_without_it(
    profile: str, owners: Owners, worker: Preassembly
) -> None:
    for topic in (A, B, A):
        ask(owners, topic, profile=profile)
    recorded = Assembly.objects.count()
    assert worker.round() == 2, "B, and A once more"
    assert Assembly.objects.count() == recorded, "nothing is recorded before anybody asks"
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B, profile=profile))) == (1, 0)
    [answer] = answers
    shared_answers().clear()
    assert hits_of(lambda: answers.append(ask(owners, B, profile=profile, now=answer.assembly.now))) == (0, 1)
    fresh = answers[-1]
    assert fresh.assembly.decided_in is None
    assert fresh.content.encode() == answer.content.encode()
    assert fresh.decisions == answer.decisions
    told, again = (assembly_document(one) for one in (answer, fresh))
    different = {name for name in told if told[name] != again[name]}
    assert different <= {"id", "created_at", "now", "assembly_ms", "sources", "metadata"}


def test_without_a_topic_too(owners: Owners, worker: Preassembly) -> None:
    for topic in ("", A, "", A):
        ask(owners, topic)
    assert worker.round()
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, ""))) == (1, 0)
    shared_answers().clear()
    assert ask(owners, "", now=answers[0].assembly.now).content.encode() == answers[0].content.encode()


def test_after_any_change_nothing_that_was_read_ahead_is_used(owners: Owners) -> None:
    """Each kind of row that a context is made of; the answer is that of a process without any cache."""
    for edit in sorted(set(EDITS) - {"nothing", "the agent's team"}):
        one = expected(owners, B)
        readings = read_ahead(one)
        assert readings
        assert share_readings(one.key, readings)
        EDITS[edit](*owners, Random(edit))
        for owner in owners:
            owner.refresh_from_db()
        answers: list[AssemblyResult] = []
        assert hits_of(lambda: answers.append(ask(owners, B))) == (0, 1), edit  # noqa: B023 - called at once
        shared_answers().clear()
        fresh = ask(owners, B, now=answers[0].assembly.now)
        assert fresh.content.encode() == answers[0].content.encode(), edit


def test_readings_are_made_again_after_a_change_and_not_while_there_is_none(owners: Owners) -> None:
    seconds = [1_000.0]
    worker = Preassembly(idle=lambda: True, timer=lambda: seconds[0], rest=lambda _: None)
    for topic in (A, B, A):
        ask(owners, topic)
    assert [worker.round(), worker.round()] == [2, 0]
    memories_create(owner=owners[0], facts=[MemoryFacts(kind="fact", text=f"{B} The porter.")], principal=SYSTEM)
    assert worker.round() == 0, "an agent that writes all the time is not read for all the time"
    seconds[0] += 6
    assert worker.round() == 2
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B))) == (1, 0)
    assert "The porter." in answers[0].content
    assert worker.round() == 0, "both are known already, though the agent has asked again"


def test_nothing_above_internal_is_read_ahead(owners: Owners, worker: Preassembly) -> None:
    agent, _ = owners
    Agent.objects.filter(id=agent.id).update(clearance=Sensitivity.RESTRICTED)
    agent.refresh_from_db()
    facts = [MemoryFacts(kind="fact", text=f"{B} {word}.", sensitivity=level) for word, level in LEVELS]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    for topic in (A, B, A):
        ask(owners, topic)
    worker.round()
    for row in expected_requests([Assembly.everything.latest("created").id]):
        readings = read_ahead(replace(row, asked=replace(row.asked, topic=B)))
        assert readings
        encoded = encode_readings(readings)
        assert encoded
        assert b"The porter." in encoded
        assert b"The treasurer." not in encoded
    answers: list[AssemblyResult] = []
    assert hits_of(lambda: answers.append(ask(owners, B))) == (0, 1), "who reads more is not answered with less"
    assert "The treasurer." in answers[0].content


def test_a_hit_counts_once_and_another_budget_of_the_question_is_one_too(owners: Owners, worker: Preassembly) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    worker.round()
    assert hits_of(lambda: ask(owners, B, max_tokens=900)) == (1, 0)
    assert hits_of(lambda: ask(owners, f"{B} Or C?")) == (0, 1)


def test_what_was_read_for_an_earlier_context_is_neither_hit_nor_miss(owners: Owners) -> None:
    ask(owners, B)
    shorter = AssemblyRequest(topic=B, max_tokens=900)
    agent, team = owners
    counted = lookups_of(lambda: assemble(agent=agent, team=team, asked=shorter, principal=SYSTEM))
    assert counted == {"hit": 0, "known": 1, "miss": 0}


def test_readings_survive_being_shared_exactly(owners: Owners) -> None:
    for topic, profile in ((B, ""), ("", ""), (B, "stack"), ("", "coding")):
        readings = read_ahead(expected(owners, topic, profile=profile))
        assert readings
        assert readings.rows
        assert bool(readings.searches) == bool(topic)
        encoded = encode_readings(readings)
        assert encoded
        again = decode_readings(encoded)
        assert again
        assert repr(again.rows) == repr({key: [tuple(row) for row in rows] for key, rows in readings.rows.items()})
        assert again.searches == readings.searches
        assert again.changes == readings.changes
        for place in range(0, len(encoded), 101):
            decode_readings(encoded[:place])
            decode_readings(encoded[:place] + bytes([encoded[place] ^ 0x55]) + encoded[place + 1 :])
    assert encode_readings(Readings((1,), {b"key": [(object(),)]})) is None


def test_a_process_that_is_busy_reads_nothing(owners: Owners) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    assert Preassembly(idle=lambda: False).round() == 0
    answers = iter([True, False])
    assert Preassembly(idle=lambda: next(answers)).round() == 0, "somebody asked meanwhile"


def test_one_of_several_workers_reads_ahead_and_another_when_that_one_is_gone(owners: Owners) -> None:
    first, second = (Preassembly(idle=lambda: True, rest=lambda _: None) for _ in range(2))
    for topic in (A, B, A):
        ask(owners, topic)
    assert [first.round(), second.round()] == [2, 0]
    ask(owners, C)  # which drops the lease, too
    assert second.round()
    assert first.round() == 0


def test_it_rests_after_each_reading_and_takes_a_part_of_the_cache(
    owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    rested: list[float] = []
    for topic in (A, B, C, A):
        ask(owners, topic)
    assert Preassembly(idle=lambda: True, rest=rested.append).round() == 3
    assert len(rested) == 3
    assert all(0 < one <= 2 for one in rested)
    shared_answers().clear()
    monkeypatch.setattr(reading_ahead, "SHARE_OF_CACHE", 1e-9)
    assert Preassembly(idle=lambda: True, rest=rested.append).round() == 1, "the first took more than its part"


def test_a_request_that_cannot_be_asked_any_more_is_not_read_ahead(owners: Owners) -> None:
    one = expected(owners, B)
    assert read_ahead(one)
    assert read_ahead(replace(one, asked=replace(one.asked, profile="gone"))) is None
    assert read_ahead(replace(one, asked=replace(one.asked, session="gone"))) is None


def test_nothing_is_told_from_one_agent_to_another(owners: Owners, worker: Preassembly) -> None:
    other = agent_create(slug="other", name="Other", teams=[owners[1]])
    for topic in (A, B, A):
        ask(owners, topic)
    assert worker.round() == 2
    assert hits_of(lambda: ask((other, owners[1]), B)) == (0, 1)


def test_it_can_be_switched_off(settings: Any, owners: Owners, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(Preassembly, "round", lambda _: rounds.append(1))
    settings.PREASSEMBLY = False
    preassemble()
    assert hits_of(lambda: ask(owners, A)) == (0, 0)
    assert rounds == []
    settings.PREASSEMBLY = True
    preassemble()
    assert rounds == [1]


def test_without_a_shared_cache_nothing_is_read(owners: Owners, settings: Any, worker: Preassembly) -> None:
    for topic in (A, B, A):
        ask(owners, topic)
    settings.SHARED_CACHE_BYTES = 0
    shared_answers.cache_clear()
    assert worker.round() == 0
