"""A context carries no contradiction silently; a person decides, undoes it, and each context replays as it was."""

from dataclasses import replace
from typing import Any, Literal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent, AgentFile
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.engine.codes import WarningCode
from assembly.models import Conflict
from assembly.pipeline import read_plan, reconciliations
from assembly.pipeline.answer_cache import AssemblyResult, assembly_cache
from assembly.pipeline.append_event import append_event
from assembly.pipeline.reconciliations import MAX_CONFLICTS
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_create
from assembly.records.reader import load_record, replay
from assembly.records.warnings import flagged_conflicts
from assembly.simulation.rerun.services import rerun_today
from assembly.simulation.time_travel.services import assemble_as_of
from config.db.statements import Statement
from memories.models import Event
from memories.services import events_create, facts_of, memory_update
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs

pytestmark = pytest.mark.django_db
MARK = "(disputed: another text has another time)"
TOPIC = "When does the support line open?"


def context(agent: Agent, team: Team, profile: str = "memory", topic: str = TOPIC) -> AssemblyResult:
    asked = AssemblyRequest(topic=topic, profile=profile, now=timezone.now())
    answer = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    assert replay(load_record(answer.assembly)).identical
    return answer


def decide(text: str, principal: Any) -> Conflict:
    """Decide that this text holds."""
    conflict = Conflict.objects.get()
    choice: Literal["left", "right"] = "left" if conflict.left_statement == text else "right"
    return conflict_resolve(conflict=conflict, choice=choice, principal=principal)


def test_two_memories(agent: Agent, team: Team, editor: User) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY, credibility=0.9)
    before = context(agent, team)
    assert EIGHTY in before.content
    assert NINETY in before.content
    run_jobs()
    disputed = context(agent, team)
    assert f"{MARK}\n{NINETY}" in disputed.content
    assert EIGHTY not in disputed.content
    assert disputed.assembly.warnings == ["CONFLICT_FLAGGED"]
    assert "conflict_lost" in disputed.assembly.codes
    resolved = decide(EIGHTY, editor.principal)
    decided = context(agent, team)
    assert EIGHTY in decided.content
    assert NINETY not in decided.content
    assert "disputed" not in decided.content
    assert decided.assembly.warnings == []
    conflict_undo(conflict=resolved, principal=editor.principal)
    assert context(agent, team).content == disputed.content
    for answer in (before, disputed, decided):
        again = replay(load_record(answer.assembly))
        assert (again.identical, again.content) == (True, answer.content)


def test_a_record_keeps_the_words_of_its_kind(agent: Agent, team: Team) -> None:
    """Times of day were conflicts of a date before they had a kind of their own."""
    conflict = conflict_between(remember(agent, EIGHTY), remember(agent, NINETY), kind="date")
    before = context(agent, team)
    assert "(disputed: another text has another date)" in before.content
    run_jobs()
    assert Conflict.objects.get(id=conflict.id).kind == "time"
    assert MARK in context(agent, team).content
    again = replay(load_record(before.assembly))
    assert (again.identical, again.content) == (True, before.content)


@pytest.mark.parametrize("of", ["team", "organisation", "agent"])
def test_a_file_against_a_memory(agent: Agent, team: Team, editor: User, admin: User, of: str) -> None:
    remember(agent, EIGHTY)
    file: Any = team.files.get(file_key="CONTEXT")
    if of == "agent":
        file = AgentFile.objects.get(agent=agent, file_key="KNOWLEDGE")
    if of == "organisation":
        organisation_file_create(key="hours", title="Hours", content=NINETY, principal=SYSTEM)
    else:
        file_save(file=file, content=NINETY, expected_version=file.version, author=SYSTEM.author)
    run_jobs()
    disputed = context(agent, team)
    assert disputed.content.count(MARK) == 1
    assert disputed.content.count(NINETY) + disputed.content.count(EIGHTY) == 1
    who = admin if of == "organisation" else editor
    resolved = decide(EIGHTY, who.principal)
    decided = context(agent, team)
    assert EIGHTY in decided.content
    assert NINETY not in decided.content, "the row keeps the passage out"
    conflict_undo(conflict=resolved, principal=who.principal)
    assert context(agent, team).content == disputed.content
    decide(NINETY, who.principal)
    decided = context(agent, team)
    assert NINETY in decided.content
    assert EIGHTY not in decided.content
    assert agent.memories.get().retired_because == "Conflict: another text holds"


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_file_that_is_cut_wins_only_with_what_it_still_says(agent: Agent, team: Team, place: str) -> None:
    remember(agent, NINETY)
    file = team.files.get(file_key="CONTEXT")
    others = [f"Paragraph {at} is about parcels and the many journeys that they make in week {at}." for at in range(95)]
    text = "\n\n".join([EIGHTY, *others] if place == "first" else [*others, EIGHTY])
    file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)
    run_jobs()
    answer = context(agent, team, profile="operations")
    assert "truncated" in answer.assembly.codes
    assert answer.content.count("The support line opens") == 1
    assert (EIGHTY if place == "first" else NINETY) in answer.content


def test_near_duplicates_collapse_into_the_better_one(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    same = remember(team, "The support line opens at 8 in the  morning. ")
    run_jobs()
    answer = context(agent, team)
    assert answer.content.count("support line") == 1
    assert "duplicate" in answer.assembly.codes
    assert same


def test_the_conversation_profile_is_as_it_was(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    before = context(agent, team, profile="conversation")
    run_jobs()
    assert context(agent, team, profile="conversation").content == before.content
    assert "reconciliations" not in before.assembly.request


def test_a_decision_and_its_undo_are_seen_at_once_though_answers_are_cached(
    agent: Agent, team: Team, editor: User
) -> None:
    def told() -> tuple[str, bool]:
        asked = AssemblyRequest(topic=TOPIC, profile="memory")
        answer = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
        return answer.content, "repeats" in answer.assembly.request

    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    disputed, _ = told()
    assert told() == (disputed, True)
    resolved = decide(EIGHTY, editor.principal)
    decided, is_repeat = told()
    assert (EIGHTY in decided, NINETY in decided, MARK in decided, is_repeat) == (True, False, False, False)
    conflict_undo(conflict=resolved, principal=editor.principal)
    assert told() == (disputed, False)


def test_conflicts_cost_no_statement(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    with CaptureQueriesContext(connection) as without:
        context(agent, team)
    run_jobs()
    with CaptureQueriesContext(connection) as disputed:
        context(agent, team)
    assert len(disputed) == len(without)


def test_a_changed_memory_is_reconciled_by_its_text(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    memory = agent.memories.get(text=EIGHTY)
    facts = facts_of(memory)
    memory = memory_update(
        memory=memory, expected_version=1, facts=replace(facts, salience=0.9), superseded_by=None, principal=SYSTEM
    )
    assert MARK in context(agent, team).content
    memory_update(
        memory=memory, expected_version=2, facts=replace(facts, text="The support line is closed today."),
        superseded_by=None, principal=SYSTEM,
    )  # fmt: skip
    assert MARK not in context(agent, team).content, "before the job has run"


def test_unread_conflicts_are_a_coherence_failure_and_are_not_cached(
    agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    remembered: list[object] = []
    monkeypatch.setattr(assembly_cache, "remember", lambda *facts: remembered.append(facts))
    with monkeypatch.context() as patch:
        patch.setattr(read_plan, "conflicts_statement", lambda *_: Statement("SELECT 1 / 0", {}))
        answer = context(agent, team)
    assert answer.assembly.warnings == ["COHERENCE_FAILURE"]
    assert EIGHTY in answer.content
    assert NINETY in answer.content
    assert not remembered
    assert context(agent, team).assembly.warnings == ["CONFLICT_FLAGGED"]
    assert remembered


def test_the_default_profile_warns_and_its_content_is_as_without_conflicts(
    agent: Agent, team: Team, editor: User
) -> None:
    remember(agent, EIGHTY)
    remember(team, NINETY)
    before = context(agent, team, profile="conversation")
    run_jobs()
    disputed = context(agent, team, profile="conversation")
    assert EIGHTY in disputed.content
    assert NINETY in disputed.content
    assert (disputed.content, disputed.assembly.warnings) == (before.content, ["CONFLICT_FLAGGED"])
    assert [one.id for one in flagged_conflicts(load_record(disputed.assembly))] == [str(Conflict.objects.get().id)]
    decide(EIGHTY, SYSTEM)
    decided = context(agent, team, profile="conversation")
    assert NINETY not in decided.content, "the memory that does not hold is archived"
    assert decided.assembly.warnings == []


def test_simulations_reconcile_as_contexts_do(agent: Agent, team: Team, editor: User) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY, credibility=0.9)
    run_jobs()
    disputed = context(agent, team)
    undecided = timezone.now()
    again = rerun_today(disputed.assembly)
    assert again.beside.is_same
    decide(EIGHTY, editor.principal)
    past = assemble_as_of(
        agent=agent, team=team, asked=AssemblyRequest(topic=TOPIC, profile="memory"), moment=undecided,
        principal=editor.principal,
    )  # fmt: skip
    assert f"{MARK}\n{NINETY}" in past.context.content
    assert "CONFLICT_FLAGGED" in past.context.warnings


def test_an_appended_event_leaves_the_marks(agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    disputed = context(agent, team)
    (event,) = events_create(
        agent=agent, facts=[{"type": "message", "content": {"text": "Hello"}, "occurred_at": timezone.now()}],
        principal=SYSTEM,
    )  # fmt: skip
    assert isinstance(event, Event)
    appended = append_event(assembly=disputed.assembly, event=event, principal=SYSTEM)
    assert appended.content.count(MARK) == 1
    assert replay(load_record(appended.assembly)).identical


def test_a_profile_withholds_or_tells(agent: Agent, team: Team, admin: User) -> None:
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    for mode, told in (("withhold", 0), ("tell", 2)):
        text = (
            f"name: {mode}er\nconflicts: {mode}\nsections:\n  - {{key: agent_memories, heading: Mine, layer: L5, "
            "source: agent_memories, shape: lines}\n"
        )
        profile_create(name=f"{mode}er", content=text, principal=admin.principal)
        answer = context(agent, team, profile=f"{mode}er")
        assert answer.content.count(MARK) == told
        assert answer.content.count("support line") == told
        assert answer.assembly.warnings == [WarningCode.CONFLICT_FLAGGED]


def test_of_owners_with_more_conflicts_than_are_read_with_the_sources_none_is_overlooked(
    agent: Agent, team: Team, editor: User
) -> None:
    older = conflict_between(remember(agent, EIGHTY), remember(team, NINETY))
    before = context(agent, team)
    assert before.assembly.warnings == ["CONFLICT_FLAGGED"]
    for kind in ("duplicate", "number"):
        Conflict.objects.bulk_create(unrelated(agent, kind) for _ in range(MAX_CONFLICTS))
        crowded = context(agent, team)
        assert (crowded.assembly.warnings, crowded.content) == (["CONFLICT_FLAGGED"], before.content)
        assert [one.id for one in flagged_conflicts(load_record(crowded.assembly))] == [str(older.id)]
    conflict_resolve(conflict=older, choice="both", principal=editor.principal)
    assert context(agent, team).assembly.warnings == []


def test_a_failed_read_of_very_many_conflicts_fails_no_context(
    agent: Agent, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    Conflict.objects.bulk_create(unrelated(agent, "number") for _ in range(MAX_CONFLICTS))
    monkeypatch.setattr(reconciliations, "CONFLICTS_OF_ITEMS_SQL", "SELECT 1 / 0")
    older = conflict_between(remember(agent, EIGHTY), remember(team, NINETY))
    assert [one.id for one in flagged_conflicts(load_record(context(agent, team).assembly))] == [str(older.id)]


def unrelated(agent: Agent, kind: str) -> Conflict:
    """A newer conflict of the agent, of which no side is in a context."""
    sides = {
        f"{side}_{name}": value
        for side, item in (("left", uuid4()), ("right", uuid4()))
        for name, value in {"ref": f"memory:{item}@1", "item": item, "sha256": item.bytes * 2, "statement": "x"}.items()
    }
    facts = {"similarity": 0.9, "subject": 0.9, "severity": 0.5, "probability": 0.9, "confidence": 0.6}
    return Conflict(agent=agent, kind=kind, cue="", strategy="flag", reasoning="", **sides, **facts)
