"""Where nothing is searched for, one statement reads all that a context is made of; whatever is in its way, the context
is the same."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from django.db import transaction

from agents.models import Agent
from assembly.pipeline import shared_answers
from assembly.pipeline.answer_cache import AssemblyCache, AssemblyResult
from assembly.pipeline.request import AssemblyRequest, RequestBudgets
from assembly.pipeline.services import assemble
from assembly.rules.services import rule_delete
from assembly.sources import SOURCES
from assembly.sources.base import SourceQuery
from config.db.statements import Statement
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.conftest import NOW
from tests.assembly.failing_sources import locked
from tests.assembly.one_of_each import everything
from tests.assembly.rule_factories import made
from tests.postgres import cloned_database, connected_to

Pair = tuple[Agent, Team]
Counting = Callable[[int], AbstractContextManager[Any]]
ALWAYS = "then: {always_include: [{path: GOALS}]}"


@pytest.fixture(scope="module")
def press(django_db_setup: None, django_db_blocker: Any) -> Iterator[Pair]:
    with django_db_blocker.unblock(), cloned_database() as name, connected_to(name):
        yield everything()


@pytest.fixture(autouse=True)
def _uncached(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_answers, "assembly_cache", AssemblyCache())


def told(press: Pair, **wishes: Any) -> AssemblyResult:
    agent, team = press
    return assemble(agent=agent, team=team, asked=AssemblyRequest(now=NOW, **wishes), principal=SYSTEM)


def read_in_turn(press: Pair) -> AssemblyResult:
    with transaction.atomic():  # of which one statement would not see one moment
        return told(press)


def same(one: AssemblyResult, other: AssemblyResult) -> bool:
    return (one.content, one.decisions) == (other.content, other.decisions)


def test_one_statement_reads_and_one_writes(press: Pair, django_assert_num_queries: Counting) -> None:
    told(press)
    with django_assert_num_queries(2):
        told(press, max_tokens=5_000)


def test_without_a_team_too(press: Pair, django_assert_num_queries: Counting) -> None:
    told((press[0], None))  # type: ignore[arg-type]
    with django_assert_num_queries(2):
        answer = told((press[0], None), max_tokens=5_000)  # type: ignore[arg-type]
    assert {report["name"]: report["count"] for report in answer.assembly.sources}["team_files"] == 0


def test_it_is_the_same_as_read_in_turn(press: Pair) -> None:
    at_once = told(press)
    assert len(at_once.decisions) > len(SOURCES) / 2
    assert same(at_once, read_in_turn(press))


def test_what_a_rule_includes_is_read_as_well(press: Pair) -> None:
    rule = made("goals", ALWAYS, press[1])
    try:
        answer = told(press)
        assert "rule_inclusions" in {report["name"] for report in answer.assembly.sources}
        assert same(answer, read_in_turn(press))
    finally:
        rule_delete(rule=rule, principal=SYSTEM)


def test_a_part_that_fails_costs_itself_alone(press: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = SOURCES["daily_logs"].reading
    assert ask

    def broken(*given: Any) -> Any:
        reading = ask(*given)
        assert reading
        return SourceQuery(Statement("SELECT 1 / 0 AS id", {}), reading.gathered)

    with monkeypatch.context() as patch:
        patch.setitem(SOURCES, "daily_logs", replace(SOURCES["daily_logs"], reading=broken, gather=raising))
        answer = told(press)
    assert answer.assembly.warnings == ["SOURCE_FAILED"]
    logs = {decision.ref for decision in told(press).decisions if decision.ref.startswith("daily_log:")}
    assert logs
    assert not logs & {decision.ref for decision in answer.decisions}


def raising(*_: Any) -> NoReturn:
    raise LookupError("on purpose")


def test_a_part_that_is_late_costs_itself_alone(press: Pair) -> None:
    with locked("daily_logs"):
        answer = told(press, budgets=RequestBudgets(time_ms=4_000))
    assert answer.assembly.warnings == ["SOURCE_TIMEOUT"]
    assert {report["name"] for report in answer.assembly.sources if report["code"]} == {"daily_logs"}
    assert "Team Goals" in answer.content
