"""Sources of the database that are late or fail: each costs itself alone, the rest is as if nothing had happened."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, transaction

from agents.models import Agent
from assembly.engine.assemble import FAILURE_NOTE
from assembly.models import Assembly
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record, replay
from assembly.records.warnings import warnings_of
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext
from memories.models import Pattern, Session
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import (
    Gather,
    dividing_by_zero,
    dying,
    hiding_what_failed,
    leaving_nothing_behind,
    locked,
    raising,
    replaced,
    sleeping,
    sleeping_for_a_while,
)
from tests.assembly.one_of_each import everything
from tests.postgres import cloned_database, connected_to

LATE = "It timed out, so its items are missing in the context."
FAILED = "It failed, so its items are missing in the context."
TIME_MS = 4_000

Pair = tuple[Agent, Team]


@pytest.fixture(scope="module")
def press(django_db_setup: None, django_db_blocker: Any) -> Iterator[Pair]:
    """One agent with one of everything, in a database of this module's own. It was asked once: all is warm."""
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        pair = everything()
        told(pair)
        yield pair


@pytest.fixture(autouse=True)
def _clean(press: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())
    with leaving_nothing_behind():
        yield


def told(press: Pair, time_ms: int | None = None, **wishes: Any) -> AssemblyResult:
    agent, team = press
    session = str(Session.objects.get(agent=agent).id)
    wishes = {"topic": "Is the ink dry on the Paper?", "profile": "coding", "now": NOW, "session": session, **wishes}
    asked = AssemblyRequest(budgets=RequestBudgets(time_ms=time_ms), **wishes)
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)


def by_source(answer: AssemblyResult) -> dict[str, set[str]]:
    """The refs of what was considered, without the line about what was not."""
    source_of = {section["key"]: section["source"] for section in answer.assembly.profile["sections"]}
    found: dict[str, set[str]] = {}
    for decision in answer.decisions:
        if decision.section == FAILURE_NOTE.key:
            continue
        found.setdefault(source_of[decision.section], set()).add(decision.ref)
    return found


def codes(assembly: Assembly) -> dict[str, str]:
    return {report["name"]: report["code"] for report in assembly.sources if report["code"]}


def messages(assembly: Assembly) -> list[str]:
    return [warned.message for warned in warnings_of(assembly)]


def all_but(press: Pair, missing: set[str], partial: AssemblyResult, **wishes: Any) -> None:
    """Nothing but the missing sources is missing, the record replays, and the next request gets everything."""
    whole = told(press, **wishes)
    assert not whole.assembly.warnings
    assert by_source(partial) == {name: refs for name, refs in by_source(whole).items() if name not in missing}
    assert set(by_source(whole)) >= missing
    assert replay(load_record(Assembly.objects.get(id=partial.assembly.id))).identical


def test_a_source_that_hangs_in_postgresql_costs_itself_alone(press: Pair) -> None:
    with locked("patterns"):
        partial = told(press, TIME_MS)
    assert codes(partial.assembly) == {"patterns": "SOURCE_TIMEOUT"}
    assert partial.assembly.warnings == ["SOURCE_TIMEOUT"]
    assert messages(partial.assembly) == [f"Patterns: {LATE}"]
    (report,) = (report for report in partial.assembly.sources if report["code"])
    assert report["fault"] == "OperationalError"
    assert 0 < report["started_ms"] < report["deadline_ms"] < TIME_MS
    assert report["ms"] > 0
    all_but(press, {"patterns"}, partial)


def test_within_a_transaction_of_the_caller_it_survives_and_commits(press: Pair) -> None:
    agent, _ = press
    with transaction.atomic():
        made = Pattern.objects.create(agent=agent, name="Held up", guidance="Wait.")
        with locked("threads"):
            partial = told(press, TIME_MS)
        with transaction.atomic():
            assert told(press, TIME_MS, now=None).assembly.warnings == []
    assert codes(partial.assembly) == {"threads": "SOURCE_TIMEOUT"}
    assert Pattern.objects.filter(id=made.id).delete()[0] == 1
    all_but(press, {"threads"}, partial)


def test_two_sources_that_sleep_leave_time_for_the_others(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        for name in ("patterns", "tools"):
            replaced(patch, name, sleeping)
        partial = told(press, TIME_MS)
    assert codes(partial.assembly) == dict.fromkeys(("patterns", "tools"), "SOURCE_TIMEOUT")
    assert messages(partial.assembly) == [f"Patterns, Tools: {LATE}"]
    all_but(press, {"patterns", "tools"}, partial)


@pytest.mark.parametrize(
    ("table", "profile", "time_ms", "missing"),
    [
        # Each that is late takes half of what is left, so that five of them leave a thirty-second for the others.
        (
            "entities",
            "coding",
            2 * TIME_MS,
            {"entities", "relations", "patterns", "agent_memories", "semantic_content"},
        ),
        ("task_frames", "stack", TIME_MS, {"task_stack"}),
    ],
)
def test_what_several_build_on_costs_them_all_and_no_other(
    press: Pair, table: str, profile: str, time_ms: int, missing: set[str]
) -> None:
    with locked(table):
        partial = told(press, time_ms, profile=profile)
    assert codes(partial.assembly) == dict.fromkeys(missing, "SOURCE_TIMEOUT")
    all_but(press, missing, partial, profile=profile)


def test_without_the_rules_nothing_is_told_and_nothing_is_recorded(press: Pair) -> None:
    before = Assembly.objects.count()
    with locked("rules"), pytest.raises(OperationalError):
        told(press, 300)
    assert Assembly.objects.count() == before


@pytest.mark.parametrize(("name", "heading"), [("agent_files", "Identity"), ("team_files", "Team Goals")])
def test_files_that_are_missing_are_named_first(
    press: Pair, name: str, heading: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        replaced(patch, name, sleeping)
        partial = told(press, TIME_MS)
    assert heading not in partial.content
    assert messages(partial.assembly) == [f"{SOURCES[name].label}: {LATE}"]
    all_but(press, {name}, partial)


@pytest.mark.parametrize("gather", [raising, dividing_by_zero, hiding_what_failed])
def test_a_source_that_fails_costs_itself_alone(press: Pair, gather: Gather, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        replaced(patch, "relations", gather)
        partial = told(press, 5_000)
    assert codes(partial.assembly) == {"relations": "SOURCE_FAILED"}
    assert messages(partial.assembly) == [f"Relations between them: {FAILED}"]
    all_but(press, {"relations"}, partial)


def test_a_connection_that_is_lost_once_costs_nothing(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        replaced(patch, "relations", dying(1, SOURCES["relations"].gather))
        partial = told(press, 5_000)
    assert partial.assembly.warnings == []
    all_but(press, set(), partial)


def test_one_that_is_lost_again_costs_the_source(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        replaced(patch, "relations", dying(2, SOURCES["relations"].gather))
        partial = told(press, 5_000)
    assert codes(partial.assembly) == {"relations": "SOURCE_FAILED"}
    all_but(press, {"relations"}, partial)


def test_a_limit_is_set_beside_a_cursor_of_the_servers(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which one reads what rules include, after a source that took half of the time."""

    def late_cursor(gather_context: GatherContext, _: Any) -> Any:
        sleeping_for_a_while(gather_context, ())
        assert list(Pattern.objects.filter(agent=gather_context.agent).iterator())
        return SOURCES["threads"].gather(gather_context, ())

    with monkeypatch.context() as patch:
        replaced(patch, "patterns", late_cursor)
        assert told(press, 2_000).assembly.warnings == []


def test_what_was_partial_is_never_told_again(press: Pair) -> None:
    wishes = {"topic": "Which pattern helps with the ink?", "now": None}
    with locked("patterns"):
        partial = [told(press, TIME_MS, **wishes).assembly for _ in range(2)]
    whole = [told(press, TIME_MS, **wishes).assembly for _ in range(2)]
    assert [codes(assembly) for assembly in partial] == [{"patterns": "SOURCE_TIMEOUT"}] * 2
    assert [codes(assembly) for assembly in whole] == [{}] * 2
    repeats = [assembly.request.get("repeats") for assembly in (*partial, *whole)]
    assert repeats == [None, None, None, str(whole[0].id)]
