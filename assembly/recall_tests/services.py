"""This module finds, creates, changes, archives and deletes recall tests, and runs them with stored results.

Who sees the team of a test, or else its agent, may read and run it; who edits the team or the agent may write it.
Agents' keys change and delete no test that people wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.access import agent_for
from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.contexts.search.owned_things import excerpt
from assembly.engine.refs import Ref
from assembly.models import RecallResult, RecallTest, RecallTrigger
from assembly.models.recall_test import RecallTestQuerySet
from assembly.monitoring.alerts.recall_test_alerts import (
    passed_alerts_close,
    recall_test_alerts_close,
)
from assembly.monitoring.alerts.watch import alerts_lock
from assembly.profiles.catalogue import find_profile
from assembly.recall_tests.expectations import (
    EXPECTATION_KINDS,
    MAX_EXPECTATIONS,
    MAX_TEXT_CHARACTERS,
    Expectation,
    split_ref,
)
from assembly.recall_tests.run import RecallRun, RunOutcome, RunReport, run_tests, runs_of
from assembly.sources.kinds import KINDS
from config.db.statements import Statement, fetch_rows, run_statement
from config.http.errors import Conflict, Forbidden, Invalid, NotFound
from teams.access import is_permitted as may_in_team
from teams.access import team_for
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.models import Team
from teams.principal import Action, Principal
from teams.secret_scanning.handling import RefusingOwner, storable_text
from teams.sensitivity import DEFAULT_LEVEL
from teams.services import erase
from teams.versioned_text.versioned_file import StaleVersion, lock_row

MAX_TESTS = 100
"""The maximum number of tests of a team, and of an agent."""
MAX_RESULTS = 50
"""The number of results of a test and agent that are retained, the newest ones."""
MAX_REF_CHARACTERS = 160
TEST_OF_PEOPLE = "This recall test was not written by agents' keys alone, so an agent's key may not change it."
PRUNE_SQL = "SELECT prune_recall_results(%(test)s, %(agent)s, %(retained)s)"


def recall_tests_visible_to(principal: Principal) -> RecallTestQuerySet:
    """Return the tests that the principal may read, with their agents and teams."""
    return RecallTest.objects.visible_to(principal).select_related("agent", "team")


def recall_test_for(principal: Principal, id_: UUID, action: Action = Action.READ) -> RecallTest:
    """Return the test. Raises NotFound, and Forbidden, also for an agent's key that would change a test of people."""
    test = recall_tests_visible_to(principal).filter(id=id_).first()
    if test is None:
        raise NotFound("This recall test")
    if action is not Action.READ and not may_edit(principal, test):
        raise Forbidden("Your role does not allow this for this recall test. Ask an editor.")
    if action is not Action.READ:
        require_test_change_allowed(principal, test)
    return test


def require_test_change_allowed(principal: Principal, test: RecallTest) -> None:
    """Check that an agent's key may change or delete the test: nobody but agents' keys wrote it, or its team allows
    agents to change what people wrote. Raises Forbidden.
    """
    if principal.kind != "agent_key" or not test.is_written_by_people:
        return
    if test.team is None:
        raise Forbidden(f"{TEST_OF_PEOPLE} Ask an editor of the agent to change it, or create a test of your own.")
    if not Team.objects.filter(id=test.team.id, agents_may_change_texts=True).exists():
        raise Forbidden(
            f"{TEST_OF_PEOPLE} Ask an admin of the team to change it, or to allow it in the team's settings, or create"
            " a test of your own."
        )


def may_edit(principal: Principal, test: RecallTest) -> bool:
    """Return whether a principal who can see the test may change it: by editing its team, or else its agent."""
    if test.team:
        return may_in_team(principal, test.team, Action.EDIT)
    return test.agent is not None and may_with_agent(principal, test.agent, Action.EDIT)


def recall_owners_for(principal: Principal, *, agent: str, team: str) -> tuple[Agent | None, Team | None]:
    """Return the agent and the team of a new test, by slug; "" for none. Raises NotFound, Forbidden and Invalid."""
    if team:
        owner = team_for(principal, team, Action.EDIT)
        return (agent_for(principal, agent) if agent else None), owner
    if agent:
        return agent_for(principal, agent, Action.EDIT), None
    raise Invalid("agent", "A recall test is for an agent or for a team. Name one of them.", "required")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFacts:
    """What a person decides about a test: its name, the request, and the expectations. See `RecallTest`."""

    name: str
    expectations: Sequence[Expectation]
    topic: str = ""
    profile: str = ""
    budget: int | None = None


class TooManyTests(Conflict):
    """There is no room for another recall test."""

    title = "Too many recall tests"


@transaction.atomic
def recall_test_create(
    *,
    agent: Agent | None,
    team: Team | None,
    facts: RecallFacts,
    principal: Principal,
    id_: UUID | None = None,
    sensitivity: int = DEFAULT_LEVEL,
) -> RecallTest:
    """Create a test of the team, for the agent or for all its agents; without a team, a test of the agent.

    `id_` is that of a test which was exported. `sensitivity` is that of its topic; the test is at least as sensitive.

    The caller checks permissions. Raises TooManyTests, and Invalid for a profile or an item that does not exist,
    and for an agent outside of the team.
    """
    if team and agent and not team.agent_links.filter(agent=agent).exists():
        raise Invalid("agent", f"{agent.name} does not work in {team.name}. Choose one of its agents.", "not_in_team")
    others = RecallTest.objects.filter(team=team) if team else RecallTest.objects.filter(team=None, agent=agent)
    if others.count() >= MAX_TESTS:
        raise TooManyTests(f"There are {MAX_TESTS} recall tests here already. Delete one first.")
    test = RecallTest(agent=agent, team=team, sensitivity=sensitivity, **({"id": id_} if id_ else {}))
    _set_values(test, facts)
    _sign(test, principal)
    test.save(force_insert=True)
    return test


@transaction.atomic
def recall_test_save(
    *, test: RecallTest, facts: RecallFacts, expected_version: int, principal: Principal, sensitivity: int | None = None
) -> RecallTest:
    """Save the next version of a test; the same values make none. `sensitivity` raises its level.

    Earlier results have their expectations by value. Raises StaleVersion, NotFound, and Invalid as
    `recall_test_create`.
    """
    current = _locked(test)
    if current.version != expected_version:
        raise StaleVersion(current, expected_version)
    before = _values_of(current)
    current.sensitivity = max(current.sensitivity, sensitivity or DEFAULT_LEVEL)
    _set_values(current, facts)
    return _next_version(current, principal) if _values_of(current) != before else current


@transaction.atomic
def recall_test_archive(*, test: RecallTest, archived: bool, principal: Principal) -> RecallTest:
    """Archive a test, which is not run any more then and has no open alerts, or restore it. Raises NotFound."""
    alerts_lock()
    current = _locked(test)
    if (current.archived is not None) == archived:
        return current
    current.archived = timezone.now() if archived else None
    if archived:
        recall_test_alerts_close(current)
    return _next_version(current, principal)


@transaction.atomic
def recall_test_delete(*, test: RecallTest, principal: Principal) -> None:
    """Delete a test with its results, and close its alerts. Raises NotFound."""
    alerts_lock()
    recall_test_alerts_close(test)
    erase("recall_tests", test.id, principal)
    activity_record(principal, ActivityAction.RECALL_TEST_DELETED, test.name, team_ids=[test.team_id], of=test)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The report on a run, and its results as they were stored."""

    report: RunReport
    results: Sequence[RecallResult]


def recall_test_run(
    *, test: RecallTest, trigger: RecallTrigger = RecallTrigger.REQUEST, principal: Principal
) -> StoredRun:
    """Run a test for all its agents that the principal may see, and store the results. A pass closes its alert."""
    agents = {*Agent.objects.visible_to(principal).values_list("id", flat=True)}
    report = run_tests([run for run in runs_of([test]) if run.agent.id in agents])
    with transaction.atomic():
        alerts_lock()
        results = results_store(report.outcomes, trigger=trigger, principal=principal)
        passed_alerts_close(test, {outcome.run.agent.id for outcome in report.outcomes if outcome.passed})
    return StoredRun(report, results)


@transaction.atomic
def results_store(
    outcomes: Sequence[RunOutcome], *, trigger: RecallTrigger, principal: Principal
) -> Sequence[RecallResult]:
    """Store the results of runs, and delete those beyond the newest 50 of each test and agent."""
    results = RecallResult.objects.bulk_create(_result(outcome, trigger, principal) for outcome in outcomes)
    for outcome in outcomes:
        facts = {"test": outcome.run.test.id, "agent": outcome.run.agent.id, "retained": MAX_RESULTS}
        run_statement(Statement(PRUNE_SQL, facts))
    return results


def results_visible_to(principal: Principal, test: RecallTest) -> QuerySet[RecallResult]:
    """Return the stored results of a test for agents that the principal may see."""
    results: QuerySet[RecallResult] = test.results.all()
    return (
        results if principal.is_admin else results.filter(agent_id__in=Agent.objects.visible_to(principal).values("id"))
    )


def _result(outcome: RunOutcome, trigger: RecallTrigger, principal: Principal) -> RecallResult:
    run: RecallRun = outcome.run
    return RecallResult(
        test=run.test,
        test_version=run.test.version,
        agent_id=run.agent.id,
        agent_slug=run.agent.slug,
        agent_name=run.agent.name,
        trigger=trigger,
        passed=outcome.passed,
        fault=outcome.fault,
        profile_name=run.profile_name,
        profile_version=outcome.profile_version,
        tokens=outcome.tokens,
        outcomes=[result.to_dict() for result in outcome.results],
        sensitivity=outcome.sensitivity,
        requested_by=principal.ref,
        requester_name=principal.name,
    )


def _locked(test: RecallTest) -> RecallTest:
    """Return the newest state of the row, locked, with the agent and the team that were loaded before."""
    current = lock_row(test)
    current.agent, current.team = test.agent, test.team
    return current


def _next_version(test: RecallTest, principal: Principal) -> RecallTest:
    test.version += 1
    _sign(test, principal)
    test.save(force_update=True)
    return test


def _sign(test: RecallTest, principal: Principal) -> None:
    test.signed_by(principal.author)
    test.is_written_by_people |= principal.kind != "agent_key"


def _values_of(test: RecallTest) -> tuple[Any, ...]:
    return test.name, test.topic, test.profile, test.budget, test.expectations, test.sensitivity


def _set_values(test: RecallTest, facts: RecallFacts) -> None:
    """Set the values of the test. Raises Invalid for a profile or an item that does not exist, and for a secret."""
    if facts.profile:
        find_profile(facts.profile)
    if len(facts.expectations) > MAX_EXPECTATIONS:
        raise Invalid("expectations", f"A recall test has at most {MAX_EXPECTATIONS} expectations.", "max_length")
    known = {one["ref"]: one["label"] for one in test.expectations if one["ref"]}
    owner = test.agent or test.team or RefusingOwner()
    test.name, test.topic = storable_text(facts.name, owner, "name"), storable_text(facts.topic, owner, "topic")
    test.profile, test.budget = facts.profile, facts.budget
    test.expectations = [_checked(one, test.agent, test.team, known).to_dict() for one in facts.expectations]
    refs = [one["ref"] for one in test.expectations if one["ref"]]
    test.sensitivity = max(test.sensitivity, *(_level(ref) for ref in refs), DEFAULT_LEVEL)


def _checked(expectation: Expectation, agent: Agent | None, team: Team | None, known: dict[str, str]) -> Expectation:
    """Return the expectation with the title of its item; an item that the test named before may be gone by now.

    Raises Invalid for neither or both of a ref and a text, and for an item that does not exist or that others own.
    """
    ref, text = expectation.ref.strip(), " ".join(expectation.text.split())
    if expectation.kind not in EXPECTATION_KINDS or bool(ref) == bool(text):
        raise Invalid("expectations", "Each expectation names either an item by its ref, or a text.")
    if text:
        if len(text) > MAX_TEXT_CHARACTERS:
            raise Invalid("expectations", f"An expected text has at most {MAX_TEXT_CHARACTERS} characters.")
        return Expectation(expectation.kind, text=text)
    if len(ref) > MAX_REF_CHARACTERS:
        raise Invalid("expectations", f"A ref has at most {MAX_REF_CHARACTERS} characters.")
    named = unversioned(ref)
    label = title_of_item(named, agent, team) or known.get(named, "")
    if not label:
        raise Invalid("expectations", f"There is no item “{ref}” here. Copy the ref from a context.", "unknown")
    return Expectation(expectation.kind, ref=named, label=label)


def unversioned(ref: str) -> str:
    """Return the ref as expectations have it: without its version, with the number of a passage of a document."""
    item, part = split_ref(ref)
    return f"{item}#{part}" if part and item.startswith("chunk:") else item


def _level(ref: str) -> int:
    """Return the sensitivity of the item, whose title the test tells; internal for an item that is gone."""
    id_ = UUID(Ref.parse(split_ref(ref)[0]).id)
    ((level,),) = fetch_rows("SELECT sensitivity_of(%(id)s)", {"id": id_})
    return DEFAULT_LEVEL if level is None else level


def title_of_item(ref: str, agent: Agent | None, team: Team | None) -> str:
    """Return the title of the item as it is now; "" if there is none that contexts of the test can have."""
    named = Ref.parse(split_ref(ref)[0])
    kind = KINDS.get(named.kind)
    try:
        id_ = UUID(named.id)
    except ValueError:
        return ""
    if kind is None:
        return ""
    agents = [agent.id] if agent else team.agent_links.values("agent_id") if team else []
    row = kind.rows(agents=agents, teams=[team.id] if team else []).filter(id=id_).first()
    return excerpt(kind.title(row)) if row else ""
