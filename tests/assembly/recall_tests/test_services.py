"""Recall tests: created, changed, run with stored results, archived and deleted."""

import uuid
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from agents.models import Agent, AgentFile
from agents.services import agent_create, agent_delete, daily_log_append
from assembly.models import Assembly, RecallResult, RecallTest, RecallTrigger
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.profiles.catalogue import known_sources
from assembly.profiles.parser import parse_profile
from assembly.profiles.shipped import SHIPPED
from assembly.recall_tests import services
from assembly.recall_tests.expectations import Expectation
from assembly.recall_tests.kept_context import recall_test_from_context
from assembly.recall_tests.presentation import RecallTestRow, recall_test_rows
from assembly.recall_tests.run import UnsavedChange, run_test, run_tests, runs_of
from assembly.recall_tests.services import (
    RecallFacts,
    recall_test_archive,
    recall_test_create,
    recall_test_delete,
    recall_test_for,
    recall_test_run,
    recall_test_save,
    results_store,
)
from assembly.records.reader import load_record
from assembly.rules.catalogue import parse_draft_rule
from config.http.errors import Forbidden, Invalid, NotFound
from memories.models import Memory
from memories.services import MemoryFacts, events_create, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM, Action
from teams.services import erase, team_delete
from teams.versioned_text.versioned_file import StaleVersion
from tests.assembly.conflicts.conflict_factories import conflict_between, remember
from tests.assembly.recall_tests.conftest import RULE_TEXT, create

pytestmark = pytest.mark.django_db


def outcome_of(test: RecallTest, change: UnsavedChange | None = None) -> Any:
    (run,) = runs_of([test])
    return run_test(run, change) if change else run_test(run)


def test_a_test_that_holds_passes_with_the_decisions_as_reasons(refund_test: RecallTest, memory: Memory) -> None:
    outcome = outcome_of(refund_test)
    assert outcome.passed, outcome
    assert [result.expectation.label for result in outcome.results] == [memory.text, ""]
    assert all(result.reason for result in outcome.results)
    assert outcome.tokens > 0


def test_running_records_no_context(refund_test: RecallTest) -> None:
    recall_test_run(test=refund_test, principal=SYSTEM)
    assert not Assembly.objects.exists()


def test_a_draft_that_breaks_the_test_fails_and_the_reason_names_the_draft(
    refund_test: RecallTest, knowledge: AgentFile
) -> None:
    outcome = outcome_of(refund_test, UnsavedChange(texts={knowledge.about: "# Refunds\n\nAsk the finance team.\n"}))
    (failure,) = outcome.failures
    assert failure.expectation.text == RULE_TEXT
    assert failure.reason == "It is in the published version of Knowledge, and not in the draft."
    assert outcome.held_before is True


def test_a_draft_of_which_the_end_is_truncated_is_named_with_the_engines_sentence(
    refund_test: RecallTest, knowledge: AgentFile
) -> None:
    long = "A paragraph about parcels and their many journeys.\n\n" * 2_000 + RULE_TEXT
    (failure,) = outcome_of(refund_test, UnsavedChange(texts={knowledge.about: long})).failures
    assert failure.code == "truncated"


def test_an_item_without_room_fails_with_the_reason_of_why_not(agent: Agent, memory: Memory) -> None:
    facts = RecallFacts(name="Small", topic="parcels", budget=10, expectations=[Expectation("include", ref=memory.ref)])
    outcome = outcome_of(recall_test_create(agent=agent, team=None, facts=facts, principal=SYSTEM))
    (failure,) = outcome.failures
    assert failure.code in {"over_total_budget", "over_section_budget"}
    assert failure.reason


def test_what_must_not_be_in_fails_when_it_is(agent: Agent, memory: Memory) -> None:
    test = create(
        Expectation("exclude", ref=f"memory:{memory.id}"),
        Expectation("exclude", text="the COURIER   collects"),
        Expectation("exclude", text="No such words"),
        agent=agent,
        team=None,
    )
    outcome = outcome_of(test)
    assert [result.passed for result in outcome.results] == [False, False, True]
    assert all(result.reason for result in outcome.results)


def test_a_gone_item_is_unknown(refund_test: RecallTest, memory: Memory) -> None:
    erase("memories", memory.id, SYSTEM)
    (failure,) = outcome_of(refund_test).failures
    assert failure.code == "unknown"


def test_a_rule_is_tried_before_it_is_saved(refund_test: RecallTest) -> None:
    rule = parse_draft_rule(
        "then: {exclude: [{source: agent_memories}]}\n", name="no-memories", version=1, scope="everywhere"
    )
    outcome = outcome_of(refund_test, UnsavedChange(rule=rule))
    (failure,) = outcome.failures
    assert (failure.code, outcome.held_before) == ("rule_excluded", True)


def test_a_profile_is_tried_before_it_is_saved(agent: Agent, team: Team, memory: Memory) -> None:
    test = create(Expectation("include", ref=memory.ref), agent=agent, team=team, profile="operations")
    text = SHIPPED["operations"]
    assert outcome_of(test).passed is outcome_of(test, UnsavedChange(profile=_parsed(text))).passed
    section = "{key: identity, heading: Identity, layer: L1, source: agent_files, shape: text}"
    poor = f"name: operations\nbudget: 400\nsections:\n  - {section}\n"
    outcome = outcome_of(test, UnsavedChange(profile=_parsed(poor)))
    assert [failure.code for failure in outcome.failures] == ["no_section"]


def _parsed(text: str) -> Any:
    return parse_profile(text, name="operations", version=2, sources=known_sources())


def test_a_test_that_cannot_be_run_says_why(agent: Agent, team: Team, memory: Memory) -> None:
    test = create(Expectation("include", ref=memory.ref), agent=agent, team=team)
    agent.team_links.all().delete()
    (run,) = runs_of([RecallTest.objects.select_related("agent", "team").get(id=test.id)])
    outcome = run_test(run)
    assert not outcome.passed
    assert outcome.fault == "Ada does not work in Customer Care. Choose one of its teams."


def test_a_test_of_a_team_is_run_for_each_of_its_agents(refund_test: RecallTest, team: Team) -> None:
    agent_create(slug="ben", name="Ben", teams=[team])
    report = recall_test_run(test=refund_test, principal=SYSTEM).report
    assert {one.run.agent.name: one.passed for one in report.outcomes} == {"Ada": True, "Ben": False}
    assert sorted(RecallResult.objects.values_list("agent_name", "passed")) == [("Ada", True), ("Ben", False)]


def test_an_agent_that_left_the_team_counts_no_more(
    refund_test: RecallTest, agent: Agent, team: Team, admin: User
) -> None:
    def row() -> RecallTestRow:
        (row,) = recall_test_rows(admin.principal, [refund_test])
        return row

    ben = agent_create(slug="ben", name="Ben", teams=[team])
    recall_test_run(test=refund_test, principal=SYSTEM)
    assert row().passed is False
    ben.team_links.all().delete()
    assert (row().passed, [result.agent_slug for result in row().latest]) == (True, ["ada"])
    agent_delete(agent=agent, principal=SYSTEM)
    assert row().passed is None, "it is run for no agent"


def test_a_test_that_names_an_agent_outside_of_its_team_fails(agent: Agent, team: Team, admin: User) -> None:
    test = create(Expectation("exclude", text="No such words"), agent=agent, team=team)
    agent.team_links.all().delete()
    recall_test_run(test=test, principal=SYSTEM)
    (row,) = recall_test_rows(admin.principal, [test])
    assert row.passed is False


def test_after_the_time_no_further_test_is_started(refund_test: RecallTest, team: Team) -> None:
    agent_create(slug="ben", name="Ben", teams=[team])
    report = run_tests(runs_of([refund_test]), seconds=-1)
    assert (len(report.outcomes), report.not_run) == (1, 1)


def test_results_are_append_only_and_the_newest_fifty_are_retained(refund_test: RecallTest) -> None:
    report = recall_test_run(test=refund_test, principal=SYSTEM).report
    for _ in range(services.MAX_RESULTS + 1):
        results_store(report.outcomes, trigger=RecallTrigger.REQUEST, principal=SYSTEM)
    assert refund_test.results.count() == services.MAX_RESULTS
    with pytest.raises(DatabaseError, match=r"history|permission"), transaction.atomic():
        refund_test.results.update(passed=False)
    with pytest.raises(DatabaseError, match=r"history|permission"), transaction.atomic():
        refund_test.results.all()._raw_delete("default")


def test_saving_makes_versions_and_refuses_stale_ones(refund_test: RecallTest, agent: Agent) -> None:
    facts = RecallFacts(name="Renamed", expectations=[Expectation("include", text=RULE_TEXT)])
    saved = recall_test_save(test=refund_test, facts=facts, expected_version=1, principal=SYSTEM)
    assert (saved.version, saved.name, saved.topic) == (2, "Renamed", "")
    assert recall_test_save(test=refund_test, facts=facts, expected_version=2, principal=SYSTEM).version == 2
    with pytest.raises(StaleVersion):
        recall_test_save(test=refund_test, facts=facts, expected_version=1, principal=SYSTEM)


@pytest.mark.parametrize(
    "expectation",
    [
        Expectation("include"),
        Expectation("include", ref="memory:1", text="both"),
        Expectation("include", ref="memory:nothing"),
        Expectation("include", ref=f"memory:{uuid.uuid4()}"),
        Expectation("include", ref=f"turn:{uuid.uuid4()}"),
        Expectation("include", text="x" * 401),
        Expectation("include", ref="x" * 161),
        Expectation("maybe", text="x"),  # type: ignore[arg-type]
    ],
)
def test_unusable_expectations_are_refused(agent: Agent, expectation: Expectation) -> None:
    with pytest.raises(Invalid) as refused:
        create(expectation, agent=agent, team=None)
    assert "expectations" in refused.value.extra["errors"]


def test_items_of_others_are_refused_as_unknown_ones(agent: Agent, outsider: User) -> None:
    other = agent_create(slug="other", name="Other", teams=list(Team.objects.filter(slug="elsewhere")))
    theirs = memory_create(owner=other, facts=MemoryFacts(kind="fact", text="Their secret."), principal=SYSTEM)
    with pytest.raises(Invalid, match="There is no item"):
        create(Expectation("include", ref=theirs.ref), agent=agent, team=None)


def test_the_numbers_of_tests_and_expectations_are_limited(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Expectation("include", text=str(number)) for number in range(21)]
    with pytest.raises(Invalid, match="at most 20"):
        create(*many, agent=agent, team=None)
    monkeypatch.setattr(services, "MAX_TESTS", 1)
    create(many[0], agent=agent, team=None)
    with pytest.raises(services.TooManyTests) as refused:
        create(many[0], agent=agent, team=None)
    assert (refused.value.status, refused.value.code, refused.value.title) == (409, "conflict", "Too many recall tests")


def test_an_unknown_profile_and_an_agent_of_another_team_are_refused(agent: Agent, team: Team, outsider: User) -> None:
    with pytest.raises(Invalid, match="no profile"):
        create(agent=agent, team=None, profile="missing")
    with pytest.raises(Invalid, match="does not work in"):
        create(agent=agent, team=Team.objects.get(slug="elsewhere"))


def test_an_archived_test_is_restored(refund_test: RecallTest) -> None:
    assert recall_test_archive(test=refund_test, archived=True, principal=SYSTEM).archived
    assert not RecallTest.objects.active().exists()
    assert recall_test_archive(test=refund_test, archived=False, principal=SYSTEM).archived is None


def test_a_deleted_test_takes_its_results_along(refund_test: RecallTest) -> None:
    recall_test_run(test=refund_test, principal=SYSTEM)
    recall_test_delete(test=refund_test, principal=SYSTEM)
    assert not RecallTest.objects.exists()
    assert not RecallResult.objects.exists()


@pytest.mark.parametrize("delete", [agent_delete, team_delete])
def test_tests_go_with_their_owners(refund_test: RecallTest, agent: Agent, team: Team, delete: Any) -> None:
    create(Expectation("include", text=RULE_TEXT), agent=agent, team=None)
    recall_test_run(test=refund_test, principal=SYSTEM)
    if delete is agent_delete:
        agent_delete(agent=agent, principal=SYSTEM)
        assert list(RecallTest.objects.values_list("team__slug", flat=True)) == ["care"]
    else:
        team_delete(team=team, principal=SYSTEM)
        assert list(RecallTest.objects.values_list("agent__slug", flat=True)) == ["ada"]
        assert not RecallResult.objects.exists()


def test_who_sees_a_test_and_who_may_change_it(
    refund_test: RecallTest, teammate: User, editor: User, outsider: User
) -> None:
    assert recall_test_for(teammate.principal, refund_test.id) == refund_test
    assert recall_test_for(editor.principal, refund_test.id, Action.EDIT) == refund_test
    with pytest.raises(Forbidden):
        recall_test_for(teammate.principal, refund_test.id, Action.EDIT)
    with pytest.raises(NotFound):
        recall_test_for(outsider.principal, refund_test.id)


def test_a_context_becomes_a_test_that_passes(agent: Agent, team: Team, memory: Memory, knowledge: AgentFile) -> None:
    asked = AssemblyRequest(topic="When do couriers collect parcels?", max_tokens=3_000)
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    test = recall_test_from_context(assembly=assembly, refs=(), principal=SYSTEM)
    assert (test.team, test.agent, test.topic, test.budget) == (team, agent, asked.topic, 3_000)
    assert [one["ref"] for one in test.expectations][:1] == [f"memory:{memory.id}"]
    assert outcome_of(test).passed
    chosen = recall_test_from_context(assembly=assembly, refs=[knowledge.ref], principal=SYSTEM)
    assert [one["ref"] for one in chosen.expectations] == [knowledge.about]


def test_a_context_without_a_lasting_item_is_not_kept(agent: Agent, team: Team) -> None:
    asked = AssemblyRequest(topic="When do couriers collect parcels?", profile="memory")
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    with pytest.raises(Invalid, match="Select items in the tab “Items”"):
        recall_test_from_context(assembly=assembly, refs=(), principal=SYSTEM)
    assert not RecallTest.objects.exists()


def test_items_that_were_deleted_since_are_not_kept(agent: Agent, team: Team, memory: Memory) -> None:
    other = remember(agent, "Couriers collect heavy parcels on Friday.")
    asked = AssemblyRequest(topic="When do couriers collect parcels?", profile="memory")
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    chosen = [one.ref for one in load_record(assembly).decisions if one.ref.startswith("memory:") and one.included]
    assert len(chosen) == 2
    erase("memories", memory.id, SYSTEM)
    test = recall_test_from_context(assembly=assembly, refs=chosen, principal=SYSTEM)
    assert [one["ref"] for one in test.expectations] == [f"memory:{other.id}"]
    erase("memories", other.id, SYSTEM)
    for refs in (chosen, ()):
        with pytest.raises(Invalid, match="do not exist any more"):
            recall_test_from_context(assembly=assembly, refs=refs, principal=SYSTEM)
    assert RecallTest.objects.count() == 1


def test_an_item_that_its_duplicate_tells_is_in(agent: Agent, team: Team) -> None:
    worse = remember(agent, "The courier collects returned parcels on Tuesday.", salience=0.2)
    better = remember(agent, "Returned parcels: the courier collects them on Tuesday.", salience=0.9)
    test = create(
        Expectation("include", ref=worse.ref),
        Expectation("exclude", ref=worse.ref),
        agent=agent,
        team=team,
        profile="memory",
    )
    conflict_between(worse, better, kind="duplicate", severity=0.0)
    outcome = outcome_of(test)
    assert [(one.passed, one.code) for one in outcome.results] == [(True, "duplicate"), (True, "duplicate")]
    told, _ = outcome.results
    assert told.reason == f"Another item tells its text. Duplicate of “{better.text}”, which is included."


def test_an_item_with_the_text_of_an_included_one_is_in(agent: Agent, team: Team) -> None:
    twins = [remember(agent, "The courier collects returned parcels on Tuesday.") for _ in range(2)]
    test = create(*(Expectation("include", ref=one.ref) for one in twins), agent=agent, team=team, profile="memory")
    outcome = outcome_of(test)
    assert outcome.passed
    assert "duplicate" in {one.code for one in outcome.results}


def test_a_kept_context_expects_nothing_that_is_gone_tomorrow(agent: Agent, team: Team, memory: Memory) -> None:
    text = "The courier collects returned parcels late today."
    daily_log_append(agent=agent, date=timezone.now().date(), text=text, principal=SYSTEM)
    events_create(agent=agent, facts=[{"type": "message", "content": {"text": text}}], principal=SYSTEM)
    asked = AssemblyRequest(topic="When does the courier collect returned parcels?", profile="memory")
    assembly = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    kinds = {one.ref.partition(":")[0] for one in load_record(assembly).decisions if one.included}
    assert {"event", "daily_log"} <= kinds
    test = recall_test_from_context(assembly=assembly, refs=(), principal=SYSTEM)
    assert {one["ref"].partition(":")[0] for one in test.expectations}.isdisjoint({"event", "daily_log", "task"})
    assert test.expectations
