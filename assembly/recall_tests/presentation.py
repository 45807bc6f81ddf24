"""Recall tests and their results as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.models import Agent, AgentTeam
from assembly.models import RecallResult, RecallTest
from assembly.recall_tests.run import RunReport
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class RecallTestRow:
    """A test with the newest result of each of its agents that the person may see."""

    test: RecallTest
    latest: Sequence[RecallResult] = field(default=())

    @property
    def passed(self) -> bool | None:
        """Whether the test passes for all agents; None if it was never run."""
        return all(result.passed for result in self.latest) if self.latest else None

    @property
    def is_outdated(self) -> bool:
        """Whether the test was changed since a result."""
        return any(result.test_version != self.test.version for result in self.latest)

    @property
    def failed(self) -> list[RecallResult]:
        """The newest results that failed."""
        return [result for result in self.latest if not result.passed]


def recall_test_rows(principal: Principal, tests: Sequence[RecallTest]) -> list[RecallTestRow]:
    """Return the tests with their newest results; one query for all of them."""
    newest = latest_results(principal, tests)
    return [RecallTestRow(test, newest.get(test.id, ())) for test in tests]


def latest_results(principal: Principal, tests: Sequence[RecallTest]) -> dict[UUID, list[RecallResult]]:
    """Return the newest result for each agent that the principal may see, by test; one query.

    Only agents for which the test is run now count: the agent that it names, or those that are in its team.
    """
    in_team = AgentTeam.objects.filter(team=OuterRef("test__team_id"), agent=OuterRef("agent_id"))
    newest = RecallResult.objects.filter(
        Q(agent_id=F("test__agent_id")) | Exists(in_team), test__in=[test.id for test in tests]
    )
    if not principal.is_admin:
        newest = newest.filter(agent_id__in=Agent.objects.visible_to(principal).values("id"))
    found: dict[UUID, list[RecallResult]] = {}
    for result in newest.order_by("test_id", "agent_id", "-created", "-id").distinct("test_id", "agent_id"):
        found.setdefault(result.test_id, []).append(result)
    return found


def report_headline(report: RunReport) -> str:
    """Return the result of several runs in a sentence."""
    total = len(report.outcomes) + report.not_run
    if not total:
        return _("No recall test concerns this text.")
    if report.failed:
        return ngettext(
            "%(failed)s of %(total)s recall test fails.", "%(failed)s of %(total)s recall tests fail.", total
        ) % {"failed": f"{len(report.failed):,}", "total": f"{total:,}"}
    if report.not_run:
        return _("%(passed)s of %(total)s recall tests pass; the others were not run in time.") % {
            "passed": f"{report.passed_count:,}",
            "total": f"{total:,}",
        }
    return ngettext("The recall test passes.", "All %(total)s recall tests pass.", total) % {"total": f"{total:,}"}
