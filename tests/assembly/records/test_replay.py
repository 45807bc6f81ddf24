"""Promise 4: the record alone gives the same bytes again, after everything in it was changed and deleted."""

import datetime
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import Agent, DailyLog
from agents.services import agent_create, agent_delete, agent_update, daily_log_append, daily_log_delete
from assembly.engine.selection import WHOLE_TOKENS
from assembly.engine.types import ENGINE_VERSION
from assembly.models import Assembly, Piece, StoredText
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import content_of, load_record, replay
from assembly.records.record_errors import RecordDamaged
from memories.models import Memory
from memories.services import MemoryFacts, memory_create, memory_delete
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.services import membership_set, team_create, team_delete
from tests.assembly.conftest import NOW, write
from tests.examples import examples

pytestmark = pytest.mark.django_db


def test_a_replay_is_identical_after_every_row_was_edited_and_deleted(luna: Agent, demo_team: Team) -> None:
    answer = assemble(agent=luna, team=demo_team, principal=SYSTEM, asked=AssemblyRequest(topic="acts", now=NOW))
    assembly, content = answer.assembly, answer.content
    for key in ("IDENTITY", "INSTRUCTIONS", "KNOWLEDGE"):
        write(luna, key, "Something else altogether.")
    for log in DailyLog.objects.all():
        daily_log_delete(log=log, principal=SYSTEM)
    for memory in Memory.objects.all():
        memory_delete(memory=memory, principal=SYSTEM)
    agent_delete(agent=luna, principal=SYSTEM)
    team_delete(team=demo_team, principal=SYSTEM)
    again = replay(load_record(Assembly.objects.get(id=assembly.id)))
    assert (again.identical, again.content) == (True, content)
    assert again.sha256 == bytes(assembly.sha256).hex()


def test_texts_are_stored_once_however_many_assemblies_used_them(luna: Agent, demo_team: Team) -> None:
    for _ in range(3):
        assemble(agent=luna, team=demo_team, principal=SYSTEM, asked=AssemblyRequest(now=NOW))
    pieces = Piece.objects.count()
    assert StoredText.objects.count() == Piece.objects.values("text_sha256").distinct().count() <= pieces
    assert pieces == len(load_record(Assembly.objects.all()[0]).decisions) + 1, "and the profile"


def test_which_assemblies_used_this_memory_is_one_indexed_query(luna: Agent) -> None:
    memory = Memory.objects.get(agent=luna)
    assembly = assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    piece = Piece.objects.get(ref=memory.ref)
    assert list(Assembly.objects.filter(told__overlap=[piece.id])) == [assembly]


def test_a_record_is_replayed_by_the_engine_of_its_version(luna: Agent) -> None:
    assembly = assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    assert assembly.engine_version == ENGINE_VERSION
    assembly.engine_version = 1  # as if it had been made then
    assert load_record(assembly).inputs.request.engine_version == 1


def test_a_record_that_was_tampered_with_is_told_and_not_shown(luna: Agent) -> None:
    assembly = assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    tampered = Assembly.objects.get(id=assembly.id)
    tampered.budget = 3  # as if somebody had changed the row
    assert not replay(load_record(tampered)).identical
    with pytest.raises(RecordDamaged):
        content_of(load_record(tampered))


def test_a_replay_takes_the_recorded_tokens_and_counts_all_texts_where_that_gives_another_result(luna: Agent) -> None:
    assembly = assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    told = load_record(Assembly.objects.get(id=assembly.id))
    candidate, decision = told.inputs.candidates[0], told.decisions[0]
    key = next(key for key in candidate.memo if isinstance(key, tuple) and key[0] == WHOLE_TOKENS)
    assert candidate.memo[key] == decision.tokens_full > 0
    candidate.memo[key] = 1_000_000  # as if somebody had changed the row
    assert told.inputs.assembled().sha256 != bytes(assembly.sha256).hex()
    assert replay(told).identical


@pytest.mark.parametrize("body", [b"", b"\x01not packed", b"\x02"])
def test_a_record_that_cannot_be_read_says_so(luna: Agent, body: bytes) -> None:
    damaged = Assembly.objects.get(
        id=assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly.id
    )
    damaged.body = body
    with pytest.raises(RecordDamaged, match="cannot be read"):
        load_record(damaged)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=400) | st.sampled_from(
    ["", " \n ", "слово " * 900, "字" * 3000, "x" * 9000, "👩‍👩‍👧 " * 300, "## Identity\n", "a\r\nb\r\n"]
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.fixed_dictionaries(dict.fromkeys(("IDENTITY", "INSTRUCTIONS", "KNOWLEDGE"), TEXTS)),
    logs=st.lists(TEXTS, max_size=4),
    memories=st.lists(TEXTS, max_size=8),
    topic=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=50),
    budget=st.integers(0, 300) | st.integers(0, 200_000),
    tokenizer=st.sampled_from(["chars4", "cl100k_base"]),
)
def test_any_record_replays(
    db: None, files: dict[str, str], logs: list[str], memories: list[str], **options: Any
) -> None:
    with transaction.atomic():
        agent = agent_create(slug="any", name="Any")
        for key, text in files.items():
            write(agent, key, text)
        for day, text in enumerate(logs):
            daily_log_append(agent=agent, date=NOW.date() - datetime.timedelta(days=day), text=text, principal=SYSTEM)
        for text in memories:
            memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=text), principal=SYSTEM)
        asked = AssemblyRequest(now=NOW, max_tokens=options.pop("budget"), **options)
        answer = assemble(agent=agent, principal=SYSTEM, asked=asked)
        assembly, content = answer.assembly, answer.content
        agent_delete(agent=agent, principal=SYSTEM)
        assert content_of(load_record(Assembly.objects.get(id=assembly.id))) == content
        assert assembly.tokens <= assembly.budget or assembly.warnings == ["BUDGET_EXCEEDED"]
        transaction.set_rollback(True)


def test_who_may_see_an_assembly_sees_its_agent_and_its_team(luna: Agent, demo_team: Team) -> None:
    other = team_create(slug="other", name="Other")
    agent_update(
        agent=luna, expected_version=1, name="Luna", timezone="UTC", teams=[demo_team, other], principal=SYSTEM
    )
    in_demo = assemble(agent=luna, team=demo_team, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    in_none = assemble(agent=luna, principal=SYSTEM, asked=AssemblyRequest(now=NOW)).assembly
    person = User.objects.create_user("mia")
    membership_set(team=other, user=person, role="admin")
    assert list(Assembly.objects.visible_to(person.principal)) == [in_none]
    membership_set(team=demo_team, user=person, role="viewer")
    assert set(Assembly.objects.visible_to(person.principal)) == {in_demo, in_none}
    agent_delete(agent=luna, principal=SYSTEM)
    assert not Assembly.objects.visible_to(person.principal).exists()
    assert Assembly.objects.visible_to(SYSTEM).count() == 2
