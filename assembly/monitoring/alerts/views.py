"""The page of alerts lists problems of contexts, who acknowledged them, and which are resolved."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from agents.models import Agent
from assembly.models import Alert, AlertKind
from assembly.monitoring.alerts.services import (
    AlertFilterForm,
    alert_acknowledge,
    alert_reopen,
    alert_resolve,
    alert_to_resolve,
    alerts_selected,
)
from assembly.notifications.sentences import alert_title
from config.http.cursors import next_page_url, page_of
from config.http.filter_chips import filter_chips
from teams.access import principal_of
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class AlertRow:
    """An alert in a list; addresses are empty for pages that do not exist any more."""

    alert: Alert
    title: str
    tone: str
    address: str
    may_settle: bool


def alert_rows(principal: Principal, alerts: Iterable[Alert]) -> list[AlertRow]:
    """Return the alerts with their sentences and what the person may do; two more queries."""
    rows = list(alerts)
    agents = Agent.objects.visible_to(principal).in_bulk({alert.agent_id for alert in rows})
    teams = Team.objects.visible_to(principal).in_bulk({alert.team_id for alert in rows if alert.team_id})
    editable = _editable_owners(principal)
    return [
        AlertRow(
            alert,
            alert_title(alert),
            "bad" if alert.kind in {AlertKind.SECTION_MISSING, AlertKind.BUDGET_EXCEEDED} else "warn",
            _address(alert, agents.get(alert.agent_id), teams.get(alert.team_id) if alert.team_id else None),
            principal.is_admin or (alert.team_id or alert.agent_id) in editable,
        )
        for alert in rows
    ]


def _address(alert: Alert, agent: Agent | None, team: Team | None) -> str:
    """Return the address of the page on which the problem can be fixed."""
    key = alert.detail.get("file", "").upper()
    if key and alert.detail["of"] == "agent" and agent:
        return reverse("agent_file", args=[agent.slug, key])
    if key and alert.detail["of"] == "team" and team:
        return reverse("team_file", args=[team.slug, key])
    if alert.kind == AlertKind.CONFLICT_OPEN and alert.detail.get("conflict"):
        return reverse("conflict_page", args=[alert.detail["conflict"]])
    if alert.kind == AlertKind.RULE_NOT_KEPT and alert.detail.get("rule"):
        return reverse("rule_page", args=[alert.detail["rule"]])
    if alert.kind == AlertKind.RECALL_TEST_FAILED:
        return reverse("recall_test", args=[alert.detail["test"]])
    if alert.kind == AlertKind.MEMORY_PRESSURE:
        return reverse("storage")
    if alert.kind == AlertKind.SECTION_MISSING and alert.thing.upper() in {"IDENTITY", "INSTRUCTIONS"} and agent:
        return reverse("agent_file", args=[agent.slug, alert.thing.upper()])
    return ""


def _editable_owners(principal: Principal) -> set[UUID]:
    """Return the ids of the teams that the person may edit, and of their agents."""
    if principal.is_admin or principal.kind != "person":
        return set()
    found = Team.objects.editable_by(principal).values_list("id", "agent_links__agent_id")
    return {id_ for pair in found for id_ in pair if id_}


def alert_list(request: HttpRequest) -> HttpResponse:
    """Show the alerts that the person may read, newest first; by default those that nobody resolved."""
    principal = principal_of(request)
    form = AlertFilterForm(request.GET, principal=principal)
    visible = Alert.objects.visible_to(principal)
    chosen = alerts_selected(visible, **form.chosen()) if form.is_valid() else visible.none()
    found, cursor = page_of(chosen, request.GET)
    context = {
        "form": form,
        "lines": (lines := alert_rows(principal, found)),
        "may_select": any(line.may_settle for line in lines),
        "chips": filter_chips(request, form),
        "waiting": visible.waiting().count(),
        "narrowed": any(request.GET.get(name) for name in form.fields),
        "may_tell": Team.objects.manageable_by(principal).exists() or principal.is_admin,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/monitoring/alerts/list.html", context)


@require_POST
def acknowledge(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Acknowledge an alert."""
    principal = principal_of(request)
    alert = alert_acknowledge(alert=alert_to_resolve(principal, id_), principal=principal)
    messages.success(request, _("Acknowledged: %(title)s.") % {"title": alert_title(alert)})
    return redirect("alert_list")


@require_POST
def resolve(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Resolve an alert."""
    principal = principal_of(request)
    alert = alert_resolve(alert=alert_to_resolve(principal, id_), principal=principal)
    told = _("Resolved: %(title)s. It is reopened if a later change does not solve it.") % {"title": alert_title(alert)}
    messages.success(request, told)
    return redirect("alert_list")


@require_POST
def reopen(request: HttpRequest, id_: UUID) -> HttpResponse:
    """Reopen a resolved or acknowledged alert."""
    alert = alert_reopen(alert=alert_to_resolve(principal_of(request), id_))
    messages.success(request, _("Reopened: %(title)s.") % {"title": alert_title(alert)})
    return redirect("alert_list")
