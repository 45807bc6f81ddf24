"""A recorded request put together again today: each difference is explained by the change that made it."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent, AgentTeam, DailyLog
from agents.services import agent_delete, daily_log_append
from assembly.comparison.causes import CAUSE_KINDS, Cause, cause_sentence
from assembly.models import Assembly, StoredProfile, StoredRule
from assembly.pipeline.append_event import append_event
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.profiles.services import profile_save
from assembly.profiles.shipped import SHIPPED
from assembly.records.reader import content_of, load_record, replay
from assembly.rules.services import rule_create, rule_delete, rule_save
from assembly.simulation.basis import OwnerDeleted, request_of_record
from assembly.simulation.rerun.services import RerunResult, rerun_today
from assembly.sources.base import ConversationTurn, RequestFilters
from config.http.errors import Invalid
from memories.models import Event, Memory, Session
from memories.services import MemoryFacts, memory_create, memory_delete, memory_update
from memories.services.memory import facts_of
from teams.models import User
from teams.principal import SYSTEM, Principal
from teams.versioned_text.versioned_file import file_save
from tests.assembly.comparison.conftest import Kept, told
from tests.assembly.failing_sources import raising, replaced

pytestmark = pytest.mark.django_db

DAY = datetime.timedelta(days=1)
LONG = "\n\n".join(f"Paragraph {number}: the ink of the morning edition dries on the rack." for number in range(60))


def only(found: RerunResult) -> Cause:
    """The one thing that was changed since."""
    (cause,) = found.causes
    return cause


def kinds(found: RerunResult) -> set[str]:
    return {cause.kind for _, causes in found.changes for cause in causes}


def sentences(found: RerunResult) -> str:
    return " ".join(cause_sentence(cause) for _, causes in found.changes for cause in causes)


def update(memory: Memory, **changes: Any) -> Memory:
    facts = changes.pop("facts", facts_of(memory))
    by = changes.pop("principal", SYSTEM)
    successor = changes.pop("superseded_by", None)
    return memory_update(
        memory=memory, expected_version=memory.version, facts=facts, superseded_by=successor, principal=by, **changes
    )


def first_memory(agent: Agent) -> Memory:
    return Memory.objects.filter(agent=agent).order_by("id")[0]


@pytest.mark.parametrize("profile", ["conversation", "coding", "research", "stack"])
@pytest.mark.parametrize("topic", ["", "Is the ink dry?"])
def test_with_nothing_changed_it_is_the_same(kept: Kept, topic: str, profile: str) -> None:
    rows = Assembly.objects.count()
    assembly = told(kept, topic, profile=profile, max_tokens=3_000)
    found = rerun_today(assembly)
    assert found.beside.is_same or kinds(found) <= {"time_passed"}, sentences(found)
    assert Assembly.objects.count() == rows + 1


def test_a_request_is_asked_as_it_was(kept: Kept) -> None:
    agent, team = kept
    asked = AssemblyRequest(
        topic="the ink",
        profile="coding",
        max_tokens=2_000,
        tokenizer="chars4",
        session=str(Session.objects.get(agent=agent).id),
        history=(ConversationTurn("user", "Hello"), ConversationTurn("assistant", "Good morning")),
        filters=RequestFilters(
            since=timezone.now() - DAY,
            event_types=frozenset({"message"}),
            entity_types=frozenset({"thing"}),
            exclude=("event:1",),
        ),
        budgets=RequestBudgets(quality_min=0.1),
        strategy={"depth_limit": 1},
        additional_context="It rains.",
    )
    assembly = assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).assembly
    assert request_of_record(load_record(assembly)) == replace(asked, sender_origin="person")


def test_a_budget_that_was_the_profiles_is_the_profiles_again(kept: Kept) -> None:
    assert request_of_record(load_record(told(kept))).max_tokens is None
    assert request_of_record(load_record(told(kept, max_tokens=500))).max_tokens == 500


def test_a_file_of_the_team_was_changed_twice(kept: Kept, ruth: Principal) -> None:
    assembly = told(kept)
    goals = kept[1].files.get(file_key="GOALS")
    goals = file_save(file=goals, content="Print less.", expected_version=2, author=SYSTEM.author)
    file_save(file=goals, content="Print in colour.", expected_version=3, author=ruth.author, note="the new press")
    found = rerun_today(assembly)
    cause = only(found)
    assert (cause.kind, cause.name, cause.before, cause.after) == ("file_changed", "GOALS", 2, 4)
    assert (cause.by, cause.note, cause.ref) == ("Ruth", "the new press", goals.about)
    assert cause_sentence(cause).startswith("Goals: version 2 → version 4, last changed by Ruth on ")
    assert "(“the new press”)" in cause_sentence(cause)
    assert "Print in colour." in found.beside.after.content


def test_what_a_longer_file_pushes_out_is_explained_by_the_room(kept: Kept) -> None:
    assembly = told(kept, max_tokens=400)
    file = kept[1].files.get(file_key="GOALS")
    file_save(file=file, content=LONG, expected_version=2, author=SYSTEM.author)
    found = rerun_today(assembly)
    assert kinds(found) == {"file_changed", "preceding_sections"}
    assert "Team Goals, which comes first, uses " in sentences(found)
    assert only(found).kind == "file_changed"


def test_a_file_of_the_agent_was_changed(kept: Kept, ruth: Principal) -> None:
    assembly = told(kept)
    file = kept[0].files.get(file_key="KNOWLEDGE")
    file_save(file=file, content="Ink dries in an hour.", expected_version=2, author=ruth.author)
    assert only(rerun_today(assembly)).name == "KNOWLEDGE"
    assert "version 2 → version 3 by Ruth on" in sentences(rerun_today(assembly))


def test_a_log_was_written_and_a_new_day_begun(kept: Kept, ruth: Principal) -> None:
    assembly = told(kept)
    today = timezone.now().date()
    daily_log_append(agent=kept[0], date=today, text="And the second.", principal=ruth)
    daily_log_append(agent=kept[0], date=today - DAY, text="Oiled the press.", principal=ruth)
    found = rerun_today(assembly)
    assert kinds(found) == {"log_written"}
    by_day = {cause.name: cause for cause in found.causes}
    assert (by_day[today.isoformat()].before, by_day[today.isoformat()].after) == (1, 2)
    assert by_day[(today - DAY).isoformat()].before is None
    assert "was written by Ruth" in sentences(found)


def test_a_log_was_deleted(kept: Kept) -> None:
    assembly = told(kept)
    from teams.services import erase

    erase("daily_logs", DailyLog.objects.get(agent=kept[0]).id, SYSTEM)
    assert only(rerun_today(assembly)).kind == "log_deleted"


def test_days_moved_on(kept: Kept) -> None:
    agent, _ = kept
    then = timezone.now() - 9 * DAY
    daily_log_append(agent=agent, date=(then - DAY).date(), text="Set the type.", principal=SYSTEM)
    assembly = told(kept, now=then)
    found = rerun_today(assembly)
    assert "Set the type." in found.beside.before.content
    assert kinds(found) == {"day_passed"}
    assert "is in the last 7 days of only one of the contexts." in sentences(found)
    assert "day" in {setting.name for setting in found.beside.settings}


MEMORY_DEEDS: dict[str, Callable[[Memory, Principal], object]] = {
    "memory_changed": lambda memory, by: update(
        memory, facts=MemoryFacts(kind="fact", text="Ink dries in two days"), principal=by
    ),
    "memory_archived": lambda memory, by: update(memory, retired_because="The ink is gone.", principal=by),
    "memory_pinned": lambda memory, by: update(memory, pinned=True, principal=by),
    "memory_superseded": lambda memory, by: update(
        memory, superseded_by=Memory.objects.filter(agent=memory.agent).exclude(id=memory.id)[0], principal=by
    ),
    "memory_deleted": lambda memory, by: memory_delete(memory=memory, principal=by),
}


@pytest.mark.parametrize("deed", MEMORY_DEEDS)
@pytest.mark.parametrize("topic", ["", "Does the ink dry?"])
def test_what_became_of_a_memory(deed: str, topic: str, kept: Kept, ruth: Principal) -> None:
    assembly = told(kept, topic)
    memory = first_memory(kept[0])
    MEMORY_DEEDS[deed](memory, ruth)
    found = rerun_today(assembly)
    assert not found.beside.is_same or deed == "memory_pinned"
    cause = only(found)
    assert (cause.kind, cause.ref) == (deed, f"memory:{memory.id}")
    assert "by Ruth" in cause_sentence(cause) or deed == "memory_deleted"
    assert "unknown" not in kinds(found)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"pinned": True}, {"pinned": False}, "memory_unpinned"),
        ({"retired_because": "Gone."}, {"retired_because": ""}, "memory_restored"),
    ],
)
def test_what_was_done_to_a_memory_was_undone(
    before: dict[str, Any], after: dict[str, Any], kind: str, kept: Kept
) -> None:
    memory = update(first_memory(kept[0]), **before)
    assembly = told(kept)
    update(memory, **after)
    assert only(rerun_today(assembly)).kind == kind


def test_new_memories_move_the_others(kept: Kept, ruth: Principal) -> None:
    assembly = told(kept)
    for number in range(6):
        facts = MemoryFacts(kind="fact", text=f"Roll {number} is on the rack")
        memory_create(owner=kept[0], facts=facts, principal=ruth)
    found = rerun_today(assembly)
    assert kinds(found) == {"memory_added", "peer_items_changed"}
    assert "It was" not in sentences(found)
    assert "6 other items of Personal Memories were added, removed or changed" in sentences(found)


def test_a_thing_was_added_changed_or_deleted(kept: Kept) -> None:
    agent, _ = kept
    assembly = told(kept, "Is the ink dry?", profile="coding")
    message = {"role": "user", "text": "And the paper?"}
    added = Event.objects.create(agent=agent, type="message", content=message, size=40, occurred_at=timezone.now())
    found = rerun_today(assembly)
    assert "item_added" in kinds(found)
    assert f"event:{added.id}" in {cause.ref for cause in found.causes}
    Event.objects.all().delete()
    assert "item_deleted" in kinds(rerun_today(assembly))


def rule(name: str, content: str, **options: Any) -> StoredRule:
    return rule_create(name=name, content=content, owner=None, principal=SYSTEM, **options)


HUSH = "then: {exclude: [{source: daily_logs}]}\n"
LOUD = "then: {always_include: [{memory_kind: fact}]}\n"


def test_a_rule_is_new(kept: Kept) -> None:
    assembly = told(kept)
    rule("hush", HUSH, note="over limit")
    cause = only(rerun_today(assembly))
    assert (cause.kind, cause.name, cause.after, cause.note) == ("rule_added", "hush", 1, "over limit")
    assert "The rule “hush” is new: it was written by Dossier on" in cause_sentence(cause)


def test_a_rule_was_switched_off(kept: Kept, ruth: Principal) -> None:
    hush = rule("hush", HUSH)
    assembly = told(kept)
    rule_save(rule=hush, content=HUSH, enabled=False, expected_version=1, principal=ruth)
    assert only(rerun_today(assembly)).kind == "rule_switched_off"
    assert "switched off by Ruth" in sentences(rerun_today(assembly))


def test_a_rule_was_changed(kept: Kept) -> None:
    hush = rule("hush", HUSH)
    assembly = told(kept)
    rule_save(rule=hush, content=f"{HUSH}  # louder\n", enabled=True, expected_version=1, principal=SYSTEM)
    found = rerun_today(assembly)
    assert (found.beside.is_same, found.causes) == (True, ())
    rule_save(
        rule=hush, content="then: {exclude: [{path: GOALS}]}\n", enabled=True, expected_version=2, principal=SYSTEM
    )
    cause = only(rerun_today(assembly))
    assert (cause.kind, cause.before, cause.after) == ("rule_changed", 1, 3)


def test_a_rule_was_deleted(kept: Kept) -> None:
    loud = rule("loud", LOUD)
    assembly = told(kept)
    rule_delete(rule=loud, principal=SYSTEM)
    found = rerun_today(assembly)
    assert only(found).kind == "rule_deleted"
    assert "The rule “loud” was deleted." in sentences(found)


def test_a_rule_that_always_includes_is_new(kept: Kept) -> None:
    assembly = told(kept)
    rule("loud", LOUD)
    found = rerun_today(assembly)
    assert "Always Included" in {section.section.label for section in found.beside.comparison.sections}
    assert only(found).kind == "rule_added"


def test_a_rule_applies_at_another_time_alone(kept: Kept) -> None:
    then = timezone.now() - 40 * DAY
    window = f"when: {{between: {{from: {(then - DAY).date()}, until: {(then + DAY).date()}}}}}\n"
    daily_log_append(agent=kept[0], date=then.date(), text="Long ago.", principal=SYSTEM)
    rule("hush", window + "then: {exclude: [{path: GOALS}]}\n")
    found = rerun_today(told(kept, now=then))
    assert "rule_no_longer_matches" in kinds(found)
    rule(
        "later",
        window.replace("between", "not: {between").replace("}}\n", "}}}\n") + "then: {exclude: [{path: RULES}]}\n",
    )
    assert "rule_matches" in kinds(rerun_today(told(kept, now=then)))


def test_the_profile_was_changed(kept: Kept, admin: User) -> None:
    assembly = told(kept, profile="coding")
    text = SHIPPED["coding"]
    changed = text.replace("max_tokens: 16000", "max_tokens: 400")
    profile_save(name="coding", content=changed + "\n", expected_version=1, principal=admin.principal, note="smaller")
    found = rerun_today(assembly)
    assert found.beside.after.inputs.profile.version == 2
    assert StoredProfile.objects.get(name="coding").version == 2
    assert "profile" in {setting.name for setting in found.beside.settings}


def test_a_shipped_profile_of_an_earlier_release_stays_in_its_records(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(SHIPPED, "coding", SHIPPED["coding"].replace("delimit: tags\n", ""))
        record = load_record(told(kept, profile="coding"))
    assert content_of(record).startswith("## Identity\n")
    assert replay(record).identical
    assert rerun_today(record.assembly).beside.after.content.startswith('<section name="Identity"')


def test_a_source_failed_then_or_now(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = told(kept)
    with monkeypatch.context() as patch:
        replaced(patch, "daily_logs", raising)
        broken = told(kept, max_tokens=15_000)
        cause = only(rerun_today(whole))
        assert (cause.kind, cause.name) == ("source_failed_now", "Daily logs")
    cause = only(rerun_today(broken))
    assert (cause.kind, cause.name) == ("source_failed_before", "Daily logs")
    assert "Daily logs could not be read then" in cause_sentence(cause)


def test_what_was_added_afterwards_is_not_there_today(kept: Kept) -> None:
    event = Event.objects.get(agent=kept[0])
    grown = append_event(assembly=told(kept), event=event, principal=SYSTEM).assembly
    assert only(rerun_today(grown)).kind == "added_afterwards"


def test_a_session_that_is_gone_is_said(kept: Kept) -> None:
    session = Session.objects.get(agent=kept[0])
    assembly = told(kept, session=str(session.id))
    session.delete()
    assert rerun_today(assembly).session_gone


def test_agent_or_team_gone_is_a_clear_answer(kept: Kept) -> None:
    assembly = told(kept)
    AgentTeam.objects.all().delete()
    with pytest.raises(Invalid, match="Mira does not work in Press"):
        rerun_today(assembly)
    agent_delete(agent=kept[0], principal=SYSTEM)
    with pytest.raises(OwnerDeleted, match="Mira was deleted"):
        rerun_today(assembly)


def test_the_queries_do_not_grow_with_the_changes(kept: Kept) -> None:
    assembly = told(kept, "the ink")

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            rerun_today(assembly)
        return len(captured)

    rerun_today(assembly)
    for number in range(2):
        memory_create(owner=kept[0], facts=MemoryFacts(kind="fact", text=f"The ink {number}"), principal=SYSTEM)
    few = queries()
    for number in range(12):
        memory_create(owner=kept[0], facts=MemoryFacts(kind="fact", text=f"Ink number {number}"), principal=SYSTEM)
    assert queries() == few
    assert few <= 30


def test_every_kind_is_worded() -> None:
    moment = timezone.now()
    for kind in CAUSE_KINDS:
        cause = Cause(
            kind, "2026-03-01" if kind.startswith(("log", "day")) else "thing", "ref", 1, 2, "Ruth", moment, "why"
        )
        assert cause_sentence(cause)


@pytest.mark.finding("E14")
def test_a_restored_text_is_no_change(kept: Kept, ruth: Principal) -> None:
    file = kept[0].files.get(file_key="KNOWLEDGE")
    text, number = file.content, file.version
    assembly = told(kept)
    file_save(file=file, content="Another text.", expected_version=number, author=ruth.author)
    file_save(file=file, content=text, expected_version=number + 1, author=ruth.author)
    found = rerun_today(assembly)
    assert found.changes == ()
    assert found.beside.is_same


@pytest.mark.finding("E14")
def test_a_memory_that_was_pinned_and_reworded_has_both_causes(kept: Kept, ruth: Principal) -> None:
    assembly = told(kept)
    memory = update(first_memory(kept[0]), facts=MemoryFacts(kind="fact", text="Ink dries in an hour"))
    update(memory, pinned=True, principal=ruth)
    found = kinds(rerun_today(assembly))
    assert {"memory_pinned", "memory_changed"} <= found
