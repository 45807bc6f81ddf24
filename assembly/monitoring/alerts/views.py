"""The page of alerts: what is wrong with contexts, who has seen it, and what is resolved."""

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
from config.http.cursors import next_page_url, page_of
from teams.access import principal_of
from teams.models import Team
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One alert in a list; addresses are empty for what cannot be read any more."""

    alert: Alert
    title: str
    tone: str
    address: str
    may_settle: bool


def alert_rows(principal: Principal, alerts: Iterable[Alert]) -> list[AlertRow]:
    """The alerts in words, with what the person may do; in two more queries."""
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


def alert_title(alert: Alert) -> str:
    """What is wrong, in a short sentence."""
    facts = {"name": alert.name, "agent": alert.agent_name}
    told = {
        AlertKind.FILE_CUT: _("%(name)s is cut for %(agent)s"),
        AlertKind.FILE_LEFT_OUT: _("%(name)s has no room for %(agent)s"),
        AlertKind.SECTION_MISSING: _("%(name)s is missing for %(agent)s"),
        AlertKind.BUDGET_EXCEEDED: _("%(name)s is more than the budget for %(agent)s"),
        AlertKind.RULE_NOT_KEPT: _("The rule %(name)s is not kept for %(agent)s"),
    }
    return told[AlertKind(alert.kind)] % facts


def _address(alert: Alert, agent: Agent | None, team: Team | None) -> str:
    """Where it can be put right."""
    key = alert.detail.get("file", "").upper()
    if key and alert.detail["of"] == "agent" and agent:
        return reverse("agent_file", args=[agent.slug, key])
    if key and alert.detail["of"] == "team" and team:
        return reverse("team_file", args=[team.slug, key])
    if alert.kind == AlertKind.RULE_NOT_KEPT and alert.detail.get("rule"):
        return reverse("rule_page", args=[alert.detail["rule"]])
    if alert.kind == AlertKind.SECTION_MISSING and alert.thing.upper() in {"IDENTITY", "INSTRUCTIONS"} and agent:
        return reverse("agent_file", args=[agent.slug, alert.thing.upper()])
    return ""


def _editable_owners(principal: Principal) -> set[UUID]:
    """The teams that the person may edit, and their agents."""
    if principal.is_admin or principal.kind != "person":
        return set()
    found = Team.objects.editable_by(principal).values_list("id", "agent_links__agent_id")
    return {id_ for pair in found for id_ in pair if id_}


def alert_list(request: HttpRequest) -> HttpResponse:
    """The alerts that the person may read, newest first: those that wait, unless others are asked for."""
    principal = principal_of(request)
    form = AlertFilterForm(request.GET, principal=principal)
    visible = Alert.objects.visible_to(principal)
    chosen = alerts_selected(visible, **form.chosen()) if form.is_valid() else visible.none()
    found, cursor = page_of(chosen, request.GET)
    context = {
        "form": form,
        "lines": alert_rows(principal, found),
        "waiting": visible.waiting().count(),
        "narrowed": any(request.GET.get(name) for name in form.fields),
        "may_tell": Team.objects.manageable_by(principal).exists() or principal.is_admin,
        "next": next_page_url(request.path, request.GET.dict(), cursor),
    }
    return render(request, "assembly/monitoring/alerts/list.html", context)


@require_POST
def acknowledge(request: HttpRequest, id_: UUID) -> HttpResponse:
    """The person looks after it."""
    principal = principal_of(request)
    alert = alert_acknowledge(alert=alert_to_resolve(principal, id_), principal=principal)
    messages.success(
        request, _("Everybody sees now that you look after it: %(title)s.") % {"title": alert_title(alert)}
    )
    return redirect("alert_list")


@require_POST
def resolve(request: HttpRequest, id_: UUID) -> HttpResponse:
    """It needs nobody any more."""
    principal = principal_of(request)
    alert = alert_resolve(alert=alert_to_resolve(principal, id_), principal=principal)
    told = _("Settled: %(title)s. Only another change brings it back.") % {"title": alert_title(alert)}
    messages.success(request, told)
    return redirect("alert_list")


@require_POST
def reopen(request: HttpRequest, id_: UUID) -> HttpResponse:
    """It was settled too soon."""
    alert = alert_reopen(alert=alert_to_resolve(principal_of(request), id_))
    messages.success(request, _("It is not settled any more: %(title)s.") % {"title": alert_title(alert)})
    return redirect("alert_list")
