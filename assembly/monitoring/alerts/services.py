"""Services of alerts: list, acknowledge, resolve and reopen them; who may do so, and the filter of the list."""

from typing import Any, Literal, get_args
from uuid import UUID

from django import forms
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.models import Alert
from assembly.models.monitoring import AlertQuerySet
from config.http.errors import Forbidden, NotFound
from teams.access import is_permitted as may_with_team
from teams.models import Team
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import lock_row


@transaction.atomic
def alert_acknowledge(*, alert: Alert, principal: Principal) -> Alert:
    """Acknowledge the alert. A second call does not change who acknowledged it first."""
    current = lock_row(alert)
    if current.seen is None:
        current.seen, current.seen_by, current.seen_by_ref = timezone.now(), principal.name, principal.ref
        current.save(update_fields=["seen", "seen_by", "seen_by_ref"])
    return current


@transaction.atomic
def alert_resolve(*, alert: Alert, principal: Principal) -> Alert:
    """Resolve the alert, whether the problem still exists or not. A second call does not change who
    resolved it first.
    """
    current = lock_row(alert)
    if current.settled is None:
        current.settled, current.settled_by, current.settled_by_ref = timezone.now(), principal.name, principal.ref
        current.save(update_fields=["settled", "settled_by", "settled_by_ref"])
    return current


@transaction.atomic
def alert_reopen(*, alert: Alert) -> Alert:
    """Reopen the alert: undo that it was resolved or acknowledged."""
    current = lock_row(alert)
    current.settled, current.settled_by, current.settled_by_ref = None, "", ""
    current.seen, current.seen_by, current.seen_by_ref = None, "", ""
    current.save(update_fields=["settled", "settled_by", "settled_by_ref", "seen", "seen_by", "seen_by_ref"])
    return current


def alert_for(principal: Principal, id_: UUID) -> Alert:
    """Return the alert, if the principal may see its agent and its team. Raises NotFound."""
    found = Alert.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This alert")
    return found


def alert_to_resolve(principal: Principal, id_: UUID) -> Alert:
    """Return the alert, to be resolved.

    Raises Forbidden for principals who may not change what it is about, and NotFound.
    """
    alert = alert_for(principal, id_)
    if not may_resolve(principal, alert):
        raise Forbidden("Your role does not allow this for this agent. Ask an editor of its team.")
    return alert


def may_resolve(principal: Principal, alert: Alert) -> bool:
    """Return whether a principal who sees the alert may resolve it: editors of its team; without a team, of a team of
    its agent.
    """
    if principal.is_admin:
        return True
    if alert.team_id:
        team = Team.objects.filter(id=alert.team_id).first()
        return team is not None and may_with_team(principal, team, Action.EDIT)
    agent = Agent.objects.filter(id=alert.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.EDIT)


AlertState = Literal["waiting", "open", "closed", "settled", "all"]
"""The state of an alert: waiting (the problem exists and nobody resolved it), open (the problem exists), closed (it
does not exist any more).
"""
ALERT_STATES: tuple[AlertState, ...] = get_args(AlertState)


def alerts_selected(
    rows: AlertQuerySet, *, state: AlertState = "waiting", agent_id: UUID | None = None, team_id: UUID | None = None
) -> AlertQuerySet:
    """Return the alerts in this state, of an agent and of a team if they are given."""
    rows = rows.filter(agent_id=agent_id) if agent_id else rows
    rows = rows.filter(team_id=team_id) if team_id else rows
    if state == "waiting":
        return rows.waiting()
    if state == "settled":
        return rows.exclude(settled=None)
    if state == "all":
        return rows
    return rows.filter(closed=None) if state == "open" else rows.exclude(closed=None)


class AlertFilterForm(forms.Form):
    """The filter of the list of alerts; its choices are what the person may see."""

    state = forms.ChoiceField(
        label=_("Status"),
        required=False,
        choices=[
            ("", _("Open")),
            ("open", _("Open and acknowledged")),
            ("closed", _("Cleared")),
            ("settled", _("Resolved")),
            ("all", _("All")),
        ],
    )
    agent = forms.ModelChoiceField(
        Agent.objects.none(), to_field_name="slug", label=_("Agent"), required=False, empty_label=_("All agents")
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="slug", label=_("Team"), required=False, empty_label=_("All teams")
    )

    def __init__(self, *args: Any, principal: Principal, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].queryset = Agent.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]
        self.fields["team"].queryset = Team.objects.visible_to(principal).order_by("name")  # type: ignore[attr-defined]

    def chosen(self) -> dict[str, Any]:
        """Return the values of a valid form, for `alerts_selected`."""
        agent, team = self.cleaned_data["agent"], self.cleaned_data["team"]
        return {
            "state": self.cleaned_data["state"] or "waiting",
            "agent_id": agent and agent.id,
            "team_id": team and team.id,
        }
