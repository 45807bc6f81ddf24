"""Recall tests are run on simulated contexts, as things are or with an unsaved change. Nothing is recorded here."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any
from uuid import UUID

from django.utils import timezone

from agents.models import Agent, AgentTeam
from assembly.comparison.side_by_side import ComparedContext
from assembly.engine.profile import Profile
from assembly.engine.rule_effects import ALWAYS_INCLUDED
from assembly.engine.rules import Actions, Condition, Rule, Selector
from assembly.engine.types import Candidate, field_values
from assembly.models import RecallTest
from assembly.pipeline.prepare import prepare
from assembly.pipeline.request import DEFAULT_PROFILE, AssemblyRequest
from assembly.pipeline.rounds import gather_in_rounds
from assembly.recall_tests.expectations import (
    CheckedContext,
    Expectation,
    ExpectationResult,
    check_expectation,
    expectations_from,
)
from assembly.rules.evaluation import rule_facts
from assembly.simulation.basis import SimulationBasis
from assembly.simulation.rule_overrides import override_rules
from assembly.simulation.simulate import NO_OVERRIDES, Overrides, simulate
from assembly.sources import SOURCES
from assembly.sources.base import GatherContext
from assembly.sources.time_budget import TimeBudget
from config.http.cpu_budget import TooCostly, TookTooLong
from config.http.errors import DossierError
from config.observability.tracing import span
from teams.sensitivity import reading_as

MAX_AGENTS = 20
"""The maximum number of agents of a team for which its tests are run."""
SECONDS = 8.0
"""Seconds after which no further test is started; at least one is always run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsavedChange:
    """A change that is tried before it is saved.

    `texts` are drafts by the ref of their file or log (`VersionedFile.about`); `profile` takes the place of the profile
    of the same name, and `rule` that of the rule of the same name.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    profile: Profile | None = None
    rule: Rule | None = None


NO_CHANGE = UnsavedChange()


@dataclass(frozen=True, slots=True)
class RecallRun:
    """A test, and one of the agents for which it is run."""

    test: RecallTest
    agent: Agent

    @property
    def profile_name(self) -> str:
        """The name of the profile of the contexts of this run."""
        return self.test.profile or self.agent.profile or DEFAULT_PROFILE


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The result of a test for one agent.

    `held_before` says whether the test passes without the unsaved change; None if it was not tried, because the test
    passes or nothing was changed. `failing_before` are the expectations that are not met without it. `fault` says why
    the test could not be run; it is empty otherwise.
    """

    run: RecallRun
    results: tuple[ExpectationResult, ...] = ()
    tokens: int = 0
    profile_version: int = 0
    held_before: bool | None = None
    failing_before: frozenset[Expectation] = frozenset()
    fault: str = ""
    sensitivity: int = field(kw_only=True)
    """The highest level of the test and of what its context considered, which the reasons may name."""

    @property
    def passed(self) -> bool:
        """Whether the test could be run and all its expectations are met."""
        return not self.fault and all(result.passed for result in self.results)

    @property
    def failures(self) -> list[ExpectationResult]:
        """The results of the expectations that are not met."""
        return [result for result in self.results if not result.passed]

    @property
    def is_broken(self) -> bool:
        """Whether the unsaved change breaks the test: an expectation that holds without it is not met with it."""
        if self.passed or self.held_before is None:
            return False
        return self.held_before or any(one.expectation not in self.failing_before for one in self.failures)

    @property
    def reasons(self) -> list[str]:
        """A sentence for each unmet expectation, or why the test could not be run."""
        return [self.fault] if self.fault else [failure.reason for failure in self.failures]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The results of several runs; `not_run` counts those that were not started in time."""

    outcomes: tuple[RunOutcome, ...]
    not_run: int = 0

    @property
    def failed(self) -> list[RunOutcome]:
        """The results of runs that failed, or could not be run."""
        return [outcome for outcome in self.outcomes if not outcome.passed]

    @property
    def broken(self) -> list[RunOutcome]:
        """The results of tests that the unsaved change breaks."""
        return [outcome for outcome in self.outcomes if outcome.is_broken]

    @property
    def passed_count(self) -> int:
        return len(self.outcomes) - len(self.failed)


def runs_of(tests: Sequence[RecallTest], only: Agent | None = None) -> list[RecallRun]:
    """Return each test with the agents for which it is run: its own, or those of its team, by name; one query.

    With `only`, an agent of each team, the tests are run for that agent alone, without a query. The tests must have
    their agents and teams loaded.
    """
    if only:
        return [RecallRun(test, only) for test in tests]
    teams = {test.team_id for test in tests if test.agent is None}
    agents: dict[UUID | None, list[Agent]] = {}
    if teams:
        for link in AgentTeam.objects.filter(team__in=teams).select_related("agent").order_by("agent__name", "id"):
            agents.setdefault(link.team_id, []).append(link.agent)
    return [
        RecallRun(test, agent)
        for test in tests
        for agent in ([test.agent] if test.agent else agents.get(test.team_id, [])[:MAX_AGENTS])
    ]


def run_tests(runs: Sequence[RecallRun], change: UnsavedChange = NO_CHANGE, *, seconds: float = SECONDS) -> RunReport:
    """Run the tests until the time is over; at least one is always run."""
    begun = monotonic()
    outcomes: list[RunOutcome] = []
    for run in runs:
        if outcomes and monotonic() - begun > seconds:
            break
        outcomes.append(run_test(run, change))
    return RunReport(tuple(outcomes), len(runs) - len(outcomes))


def run_test(run: RecallRun, change: UnsavedChange = NO_CHANGE) -> RunOutcome:
    """Return the result of a test for its agent, with the unsaved change.

    Its topic is as sensitive as the test: external sources with a lower level are not asked.
    A test that cannot be run, for example because its profile was deleted, has failed: its outcome says why.
    """
    try:
        with span("recall test"):
            return _run(run, change)
    except (TooCostly, TookTooLong):
        raise
    except DossierError as fault:
        held = run_test(run).passed if change != NO_CHANGE else None
        return RunOutcome(run, fault=fault.detail, held_before=held, sensitivity=run.test.sensitivity)


def _run(run: RecallRun, change: UnsavedChange) -> RunOutcome:
    test, now = run.test, timezone.now()
    wanted = expectations_from(test.expectations)
    asked = AssemblyRequest(
        topic=test.topic, profile=test.profile, max_tokens=test.budget, sensitivity=test.sensitivity
    ).for_agent(run.agent)
    basis = _basis(run, asked, now, change.profile)
    overrides = Overrides(texts=change.texts) if change.texts else NO_OVERRIDES
    changed = simulate(_with_rule(basis, change.rule) if change.rule else basis, overrides)
    published = simulate(basis) if change.texts else None
    gathered = SimulatedContext.of(run, basis, now)
    context = CheckedContext(changed, gathered, published)
    results = tuple(check_expectation(one, context) for one in wanted)
    held, failing = None, frozenset[Expectation]()
    if change != NO_CHANGE and not all(result.passed for result in results):
        before = published or _unchanged(run, asked, now, basis, change)
        failing = _unmet(wanted, CheckedContext(before, gathered)) if before else frozenset(wanted)
        held = not failing
    level = max([test.sensitivity, *(one.sensitivity for one in changed.inputs.candidates)])
    return RunOutcome(run, results, changed.tokens, changed.inputs.profile.version, held, failing, sensitivity=level)


def _unmet(wanted: Sequence[Expectation], context: CheckedContext) -> frozenset[Expectation]:
    return frozenset(one for one in wanted if not check_expectation(one, context).passed)


def _basis(run: RecallRun, asked: AssemblyRequest, now: datetime.datetime, profile: Profile | None) -> SimulationBasis:
    """Return the candidates for the test. Raises Invalid for an agent that is not in the team, and unknown profiles."""
    prepared = prepare(run.agent, run.test.team, asked, now, profile)
    time = TimeBudget.starting_now()
    return SimulationBasis.of(prepared, gather_in_rounds(prepared, time), time)


def _unchanged(
    run: RecallRun, asked: AssemblyRequest, now: datetime.datetime, basis: SimulationBasis, change: UnsavedChange
) -> ComparedContext | None:
    """Return the context without the change; None if there is none, because the saved profile cannot be used."""
    try:
        return simulate(_basis(run, asked, now, None) if change.profile else basis)
    except (TooCostly, TookTooLong):
        raise
    except DossierError:
        return None


def _with_rule(basis: SimulationBasis, rule: Rule) -> SimulationBasis:
    """Return the basis with the rule in place of the one of the same name, if its condition is met."""
    if basis.gathered is None:
        raise ValueError("A rule is tried on candidates that were gathered now.")
    gather_context = basis.gathered.gather_context
    inputs = override_rules(
        basis.inputs,
        without=(),
        rule=rule,
        facts=rule_facts(basis.inputs.profile, gather_context),
        find=lambda selector: _included_by(gather_context, selector),
    )
    return replace(basis, inputs=inputs)


def _included_by(gather_context: GatherContext, selector: Selector) -> Sequence[Candidate]:
    """Return the items that a rule with this selector always includes."""
    rule = Rule("", 1, "everywhere", Condition(), Actions(always_include=(selector,)))
    with reading_as(gather_context.clearances):
        found = SOURCES[ALWAYS_INCLUDED.source].gather(replace(gather_context, rules=(rule,)), [ALWAYS_INCLUDED])
    return found.candidates


@dataclass(frozen=True, slots=True)
class SimulatedContext:
    """What why-not needs to know of a context that was not recorded; see `GatheredContext`."""

    agent_id: UUID
    team_id: UUID | None
    now: datetime.datetime
    profile_name: str
    profile: Mapping[str, Any]
    sources: Sequence[Mapping[str, Any]]

    @property
    def created(self) -> datetime.datetime:
        return self.now

    @classmethod
    def of(cls, run: RecallRun, basis: SimulationBasis, now: datetime.datetime) -> "SimulatedContext":
        """Return the facts of the run's context."""
        profile = basis.inputs.profile
        return cls(
            agent_id=run.agent.id,
            team_id=run.test.team_id,
            now=now,
            profile_name=profile.name,
            profile=profile.to_dict(),
            sources=[field_values(report) for report in basis.reports],
        )


def failures_by_name(outcome: RunOutcome, *, broken_alone: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the name and the reason of each unmet expectation; for a test that could not be run, "" and why.

    With `broken_alone`, not of those that are not met without the change, either.
    """
    if outcome.fault:
        yield "", outcome.fault
    for failure in outcome.failures:
        if broken_alone and failure.expectation in outcome.failing_before:
            continue
        yield failure.expectation.name, failure.reason
