"""Any two contexts beside each other: each difference is explained by what changed between them, or was asked for."""

import datetime
from time import thread_time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import AgentTeam
from agents.services import agent_create, agent_delete, daily_log_append
from assembly.comparison.causes import cause_sentence
from assembly.comparison.explain import ExplainedComparison, compare_records
from assembly.comparison.side_by_side import ComparedContext, compared_from_record
from assembly.models import Assembly
from assembly.pipeline.append_event import append_event
from assembly.records.reader import StoredAssembly
from assembly.rules.services import rule_create, rule_save
from assembly.sources.base import RequestFilters
from config.http.cpu_budget import TooCostly, cpu_budget
from memories.models import Entity, Event, Memory
from memories.services import MemoryFacts, memory_create, memory_delete
from teams.principal import SYSTEM, Principal
from teams.services import team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.comparison.conftest import Kept, told
from tests.assembly.failing_sources import raising, replaced

pytestmark = pytest.mark.django_db

HUSH = "then: {exclude: [{source: daily_logs}]}\n"
LOUDER = "then: {exclude: [{path: GOALS}]}\n"


def kinds(found: ExplainedComparison) -> set[str]:
    return {cause.kind for _, causes in found.changes for cause in causes}


def sentences(found: ExplainedComparison) -> str:
    return " ".join(cause_sentence(cause) for _, causes in found.changes for cause in causes)


def test_a_file_is_told_in_the_versions_of_the_two_and_not_of_today(kept: Kept, ruth: Principal) -> None:
    file = kept[1].files.get(file_key="GOALS")
    earlier = told(kept)
    file = file_save(file=file, content="Print less.", expected_version=2, author=ruth.author, note="paper is dear")
    later = told(kept)
    file_save(file=file, content="Print in colour.", expected_version=3, author=SYSTEM.author)
    for found in (compare_records(earlier, later), compare_records(later, earlier)):
        (cause,) = found.causes
        assert (cause.kind, cause.before, cause.after, cause.by) == ("file_changed", 2, 3, "Ruth")
        assert "Goals: version 2 → version 3 by Ruth on" in sentences(found)
        assert "paper is dear" in sentences(found)


def test_the_second_is_not_replayed_where_the_first_took_more_than_half_of_the_budget(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, replayed = told(kept), []

    def replay_for_long(recorded: StoredAssembly) -> ComparedContext:
        replayed.append(recorded)
        until = thread_time() + 0.6
        while thread_time() < until:
            pass
        return compared_from_record(recorded)

    monkeypatch.setattr("assembly.comparison.explain.compared_from_record", replay_for_long)
    with cpu_budget(1.0), pytest.raises(TooCostly):
        compare_records(context, context)
    assert len(replayed) == 1


def test_whichever_is_looked_at_first_the_same_has_happened(kept: Kept, ruth: Principal) -> None:
    earlier = told(kept)
    memory = memory_create(owner=kept[0], facts=MemoryFacts(kind="fact", text="The rack is full"), principal=ruth)
    daily_log_append(agent=kept[0], date=timezone.now().date(), text="And the second.", principal=ruth)
    later = told(kept)
    forward, backward = compare_records(earlier, later), compare_records(later, earlier)
    assert {change.effect for change, _ in forward.changes} >= {"in"}
    assert {change.effect for change, _ in backward.changes} >= {"out"}
    for found in (forward, backward):
        assert {cause.kind for cause in found.causes} == {"memory_added", "log_written"}
        assert f"memory:{memory.id}" in {cause.ref for cause in found.causes}
        assert "unknown" not in kinds(found)


def test_what_was_deleted_since_is_told_by_what_is_on_record(kept: Kept, ruth: Principal) -> None:
    earlier = told(kept)
    memory = Memory.objects.filter(agent=kept[0]).order_by("id")[0]
    from tests.assembly.simulation.test_rerun import update

    update(memory, facts=MemoryFacts(kind="fact", text="Ink dries in two days"), principal=ruth)
    later = told(kept)
    memory_delete(memory=Memory.objects.get(id=memory.id), principal=ruth)
    (cause,) = compare_records(earlier, later).causes
    assert (cause.kind, cause.before, cause.after, cause.by, cause.at) == ("memory_changed", 1, 2, "", None)
    assert cause_sentence(cause) == "This memory: version 1 → version 2."
    assert {cause.kind for cause in compare_records(earlier, told(kept)).causes} == {"memory_deleted"}


def test_what_keeps_no_versions_is_told_without_who_changed_it_since(kept: Kept) -> None:
    earlier = told(kept, "Is the ink dry?", profile="coding")
    message = {"role": "user", "text": "And the paper?"}
    added = Event.objects.create(agent=kept[0], type="message", content=message, size=40, occurred_at=timezone.now())
    later = told(kept, "Is the ink dry?", profile="coding")
    Event.objects.filter(id=added.id).update(updated=timezone.now() + datetime.timedelta(hours=1))
    found = compare_records(earlier, later)
    (cause,) = [cause for cause in found.causes if cause.ref == f"event:{added.id}"]
    assert (cause.kind, cause.at) == ("item_added", None)


def test_rules_are_told_as_they_were(kept: Kept, ruth: Principal) -> None:
    before = told(kept)
    hush = rule_create(name="hush", content=HUSH, owner=None, principal=ruth)
    under = told(kept)
    rule_save(rule=hush, content=LOUDER, enabled=True, expected_version=1, principal=SYSTEM)
    louder = told(kept)
    rule_save(rule=hush, content=LOUDER, enabled=False, expected_version=2, principal=SYSTEM)
    without = told(kept)
    (added,) = compare_records(before, under).causes
    assert (added.kind, added.after, added.by) == ("rule_added", 1, "Ruth")
    (changed,) = compare_records(louder, under).causes
    assert (changed.kind, changed.before, changed.after) == ("rule_changed", 1, 2)
    assert {cause.kind for cause in compare_records(louder, without).causes} == {"rule_switched_off"}


ASKED: dict[str, dict[str, Any]] = {
    "topic_changed": {"topic": "Does the ink dry?"},
    "budget_requested": {"max_tokens": 60},
    "profile_chosen": {"profile": "research"},
}


@pytest.mark.parametrize("kind", ASKED)
def test_what_was_asked_otherwise_explains_it_and_is_nothing_that_changed(kind: str, kept: Kept) -> None:
    plain, other = told(kept), told(kept, **ASKED[kind])
    for found in (compare_records(plain, other), compare_records(other, plain)):
        assert kind in kinds(found), sentences(found)
        assert "unknown" not in kinds(found)
        assert found.causes == ()


def test_what_a_request_brought_along_or_left_out_is_said(kept: Kept) -> None:
    memory = Memory.objects.filter(agent=kept[0]).order_by("id")[0]
    plain = told(kept)
    without = told(kept, filters=RequestFilters(exclude=(f"memory:{memory.id}",)))
    assert "excluded_by_request" in kinds(compare_records(plain, without))
    brief = told(kept, profile="coding", additional_context="It rains.")
    assert "request_context" in kinds(compare_records(told(kept, profile="coding"), brief))


def test_tokens_that_are_counted_otherwise_are_said(kept: Kept) -> None:
    found = compare_records(told(kept, max_tokens=70), told(kept, max_tokens=70, tokenizer="chars4"))
    assert "tokenizer_changed" in kinds(found)
    assert "unknown" not in kinds(found)


def test_contexts_of_two_agents_and_of_two_teams(kept: Kept) -> None:
    agent, team = kept
    other = agent_create(slug="kit", name="Kit", teams=[team])
    far = team_create(slug="far", name="Far")
    AgentTeam.objects.create(agent=agent, team=far)
    found = compare_records(told(kept), told((other, team)))
    assert {"another_agent"} <= kinds(found) <= {"another_agent", "preceding_sections"}
    assert "It is of Mira: the other context is of another agent." in sentences(found)
    assert (
        {"another_team"}
        <= kinds(compare_records(told(kept), told((agent, far))))
        <= {"another_team", "preceding_sections"}
    )


def test_a_source_that_failed_in_either(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(kept)
    with monkeypatch.context() as patch:
        replaced(patch, "daily_logs", raising)
        broken = told(kept, max_tokens=15_000)
    assert "source_failed_after" in kinds(compare_records(whole, broken))
    assert "source_failed_after" in kinds(compare_records(broken, whole)), "the later one is the same"
    assert "source_failed_before" in kinds(compare_records(broken, told(kept, max_tokens=14_000)))


def test_an_event_that_was_added_to_one(kept: Kept) -> None:
    plain = told(kept)
    grown = append_event(assembly=plain, event=Event.objects.get(agent=kept[0]), principal=SYSTEM).assembly
    for found in (compare_records(plain, grown), compare_records(grown, plain)):
        assert "added_to_one_side" in kinds(found)
        assert "profile_changed" not in kinds(found)


def test_contexts_whose_agent_is_gone_are_still_explained(kept: Kept) -> None:
    earlier = told(kept)
    file = kept[0].files.get(file_key="KNOWLEDGE")
    file_save(file=file, content="Ink dries in an hour.", expected_version=2, author=SYSTEM.author)
    later = told(kept)
    agent_delete(agent=kept[0], principal=SYSTEM)
    (cause,) = compare_records(earlier, later).causes
    assert (cause.kind, cause.before, cause.after, cause.at) == ("file_changed", 2, 3, None)


def test_a_day_that_passed(kept: Kept) -> None:
    then = timezone.now() - datetime.timedelta(days=9)
    daily_log_append(agent=kept[0], date=then.date(), text="Set the type.", principal=SYSTEM)
    assert "day_passed" in kinds(compare_records(told(kept, now=then), told(kept)))


def test_one_is_the_same_as_itself(kept: Kept) -> None:
    context = told(kept)
    assert compare_records(context, context).changes == ()


def test_the_queries_do_not_grow_with_the_changes(kept: Kept) -> None:
    def queries(one: Assembly, other: Assembly) -> int:
        with CaptureQueriesContext(connection) as captured:
            compare_records(one, other)
        return len(captured)

    empty = told(kept, "the ink")
    for number in range(2):
        memory_create(owner=kept[0], facts=MemoryFacts(kind="fact", text=f"The ink {number}"), principal=SYSTEM)
    few = told(kept, "the ink")
    for number in range(12):
        memory_create(owner=kept[0], facts=MemoryFacts(kind="fact", text=f"Ink number {number}"), principal=SYSTEM)
    many = told(kept, "the ink")
    compare_records(empty, few)
    assert queries(empty, many) == queries(empty, few) <= 12
    assert Entity.objects.exists(), "there is more than memories"
