"""Feedback moves credibilities: once for each context, from their newest values, and without becoming an author."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import connection, connections, transaction

from agents.authentication import principal_of_key
from agents.keys import api_key_create
from agents.models import Agent
from assembly.models import Assembly, AssemblyFeedback
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.feedback import FeedbackFacts, GivenFeedback, feedback_create
from config.http.errors import Forbidden
from memories.models import Memory
from memories.services import MemoryFacts, facts_of, memory_create, memory_delete, memory_update
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.client import Api, problem

TEXT = "The kiosk opens at nine."
BLOCKED_SQL = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"


@pytest.fixture
def key(agent: Agent) -> Principal:
    principal = principal_of_key(api_key_create(agent=agent)[1])
    assert principal
    return principal


def remember(owner: Agent | Team, principal: Principal = SYSTEM, text: str = TEXT) -> Memory:
    return memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=text), principal=principal)


def context(agent: Agent, team: Team) -> Assembly:
    asked = AssemblyRequest(topic="When does the kiosk open?")
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


def useless(record: Assembly, memory: Memory, principal: Principal = SYSTEM) -> GivenFeedback:
    facts = FeedbackFacts(satisfaction=0.2, useless=[f"memory:{memory.id}"])
    return feedback_create(assembly=record, facts=facts, principal=principal)


@pytest.mark.django_db
def test_who_gives_feedback_does_not_become_the_author(
    agent: Agent, team: Team, owner: User, key: Principal, agent_api: Api
) -> None:
    memory = remember(team, key)
    assert useless(context(agent, team), memory, owner.principal).credibilities == {memory.id: 0.48}
    memory.refresh_from_db()
    assert (memory.updated_by, memory.editor_ref, memory.editor_name) == ("user", key.ref, key.name)
    version = memory.versions.get(version=2)
    assert (version.updated_by, version.editor_ref, version.editor_name) == ("user", owner.principal.ref, owner.name)
    assert (version.credibility, version.note) == (0.48, "Feedback on a context")
    assert (memory.origin, version.origin) == ("agent", "agent")
    path = f"teams/care/memories/{memory.id}"
    assert agent_api.patch(path, {"text": "It opens at ten."}, if_match='"2"').status_code == 200
    assert agent_api.delete(path, if_match='"3"').status_code == 204


@pytest.mark.django_db
def test_the_note_of_feedback_alone_leaves_no_text_unprotected(team: Team, owner: User, key: Principal) -> None:
    memory = remember(team, key)
    facts = replace(facts_of(memory), text="The kiosk opens at ten.")
    memory_update(
        memory=memory,
        expected_version=1,
        facts=facts,
        superseded_by=None,
        note="Feedback on a context",
        principal=owner.principal,
    )
    with pytest.raises(Forbidden):
        memory_delete(memory=memory, principal=key)


@pytest.mark.django_db
def test_what_a_person_wrote_stays_the_persons_after_feedback(
    agent: Agent, team: Team, owner: User, key: Principal, agent_api: Api
) -> None:
    memory = remember(team, key)
    memory_update(
        memory=memory,
        expected_version=1,
        facts=facts_of(memory),
        superseded_by=None,
        pinned=True,
        principal=owner.principal,
    )
    useless(context(agent, team), memory, owner.principal)
    answer = agent_api.patch(f"teams/care/memories/{memory.id}", {"text": "Forged."}, if_match='"3"')
    assert problem(answer) == (403, "forbidden")


@pytest.mark.django_db
def test_a_conflict_shows_the_author_and_time_of_the_text(
    agent: Agent, team: Team, owner: User, key: Principal, agent_api: Api
) -> None:
    memory, other = remember(team, key), remember(team, text="The kiosk opens at ten.")
    conflict = conflict_between(memory, other)
    before = agent_api.get(f"conflicts/{conflict.id}").json()["left"]
    assert before["updated_by"]["ref"] == key.ref
    useless(context(agent, team), memory, owner.principal)
    after = agent_api.get(f"conflicts/{conflict.id}").json()["left"]
    assert after == {**before, "version": 2, "credibility": 0.48}


@pytest.mark.django_db
def test_only_what_moved_uses_up_the_step(agent: Agent, team: Team, owner: User, key: Principal) -> None:
    memory = remember(team, owner.principal)
    record = context(agent, team)
    moved = [useless(record, memory, by).credibilities for by in (key, owner.principal, owner.principal)]
    assert moved == [{}, {memory.id: 0.48}, {}]
    assert [one.moved_memories for one in AssemblyFeedback.objects.order_by("id")] == [[], [memory.id], []]


@pytest.mark.django_db
@pytest.mark.parametrize(("satisfaction", "is_moved"), [(0.2, True), (0.5, False), (None, False)])
def test_what_older_feedback_named_counts_as_moved(
    satisfaction: float | None, is_moved: bool, agent: Agent, team: Team
) -> None:
    memory = remember(team)
    record = context(agent, team)
    older: dict[str, Any] = {"satisfaction": satisfaction, "useless": [memory.ref], "moved_memories": None}
    AssemblyFeedback.objects.create(assembly=record.id, given_by="system", **older)
    assert useless(record, memory).credibilities == ({} if is_moved else {memory.id: 0.48})


def give_during(change: Callable[[], Any], give: Callable[[], GivenFeedback]) -> tuple[GivenFeedback, bool]:
    """Give feedback in a thread while a transaction with the change is open, and return it and whether it waited."""

    def run() -> GivenFeedback:
        try:
            return give()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        change()
        running = pool.submit(run)
        end = time.monotonic() + 20
        while not running.done() and not _blocks_another() and time.monotonic() < end:
            time.sleep(0.02)
        has_waited = not running.done()
    return running.result(), has_waited


def _blocks_another() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(BLOCKED_SQL)
        return bool(cursor.fetchone()[0])


@pytest.mark.usefixtures("committed_database")
def test_a_credibility_moves_from_its_newest_value(agent: Agent, team: Team) -> None:
    memory = remember(team)
    record = context(agent, team)
    rate = partial(Memory.objects.filter(id=memory.id).update, credibility=0.9)
    given, has_waited = give_during(rate, partial(useless, record, memory))
    memory.refresh_from_db()
    assert (given.credibilities, memory.credibility, has_waited) == ({memory.id: 0.88}, 0.88, True)


@pytest.mark.usefixtures("committed_database")
def test_a_memory_that_is_deleted_meanwhile_is_passed_over(agent: Agent, team: Team) -> None:
    gone, memory = remember(team), remember(team, text="The kiosk has tea.")
    record = context(agent, team)
    facts = FeedbackFacts(satisfaction=0.2, useless=[f"memory:{one.id}" for one in (gone, memory)])
    give = partial(feedback_create, assembly=record, facts=facts, principal=SYSTEM)
    given, has_waited = give_during(partial(memory_delete, memory=gone, principal=SYSTEM), give)
    assert (given.credibilities, has_waited) == ({memory.id: 0.48}, True)
    assert AssemblyFeedback.objects.get().moved_memories == [memory.id]


@pytest.mark.usefixtures("committed_database")
def test_feedback_waits_for_that_on_the_same_context_only(agent: Agent, team: Team) -> None:
    memory = remember(team)
    first, second = context(agent, team), context(agent, team)
    note = partial(feedback_create, assembly=first, facts=FeedbackFacts(note="Fine."), principal=SYSTEM)
    assert give_during(note, partial(useless, second, memory))[1] is False
    given, has_waited = give_during(partial(useless, first, memory), partial(useless, first, memory))
    assert (given.credibilities, has_waited) == ({}, True)
