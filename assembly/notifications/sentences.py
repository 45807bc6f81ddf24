"""A notification is shown as one sentence with a link."""

from typing import cast

from django.urls import reverse
from django.utils.translation import gettext as _

from assembly.models import Alert, AlertKind, Notification, NotificationKind, Proposal
from teams.sensitivity import DEFAULT_LEVEL, Sensitivity


def notification_sentence(notification: Notification) -> str:
    """Return what happened, in one sentence without a full stop."""
    if notification.proposal is not None:
        return _of_suggestion(NotificationKind(notification.kind), notification.proposal)
    return alert_title(cast("Alert", notification.alert))


def mailed_sentence(notification: Notification) -> str:
    """Return the sentence as an e-mail has it: without the name of what an alert above internal is about, because
    e-mails leave the installation.
    """
    alert = notification.alert
    if alert is None or alert.sensitivity <= DEFAULT_LEVEL:
        return notification_sentence(notification)
    return _("%(agent)s: there is an alert about something %(level)s") % {
        "agent": alert.agent_name,
        "level": Sensitivity(alert.sensitivity).word,
    }


def _of_suggestion(kind: NotificationKind, proposal: Proposal) -> str:
    if kind == NotificationKind.SUGGESTION_CREATED:
        told, who = _("%(who)s suggests a change for %(agent)s"), proposal.proposer_name
    elif proposal.status == Proposal.Status.ACCEPTED:
        told, who = _("%(who)s accepted your suggestion for %(agent)s"), proposal.decider_name
    else:
        told, who = _("%(who)s dismissed your suggestion for %(agent)s"), proposal.decider_name
    return told % {"who": who or "Dossier", "agent": proposal.agent_name}


def notification_address(notification: Notification) -> str:
    """Return the path of the page that the notification is about."""
    if notification.alert:
        return f"{reverse('alert_list')}?state=all&agent={notification.alert.agent_slug}#alert-{notification.alert_id}"
    return reverse("proposal", args=[notification.proposal_id])


def alert_title(alert: Alert) -> str:
    """Return the problem as a short sentence."""
    facts = {"name": alert.name, "agent": _disputing(alert) or alert.agent_name}
    told = {
        AlertKind.FILE_CUT: _("%(agent)s: %(name)s truncated"),
        AlertKind.FILE_LEFT_OUT: _("%(agent)s: %(name)s excluded"),
        AlertKind.SECTION_MISSING: _("%(agent)s: %(name)s missing"),
        AlertKind.BUDGET_EXCEEDED: _("%(agent)s: %(name)s exceeds the budget"),
        AlertKind.RULE_NOT_KEPT: _("%(agent)s: rule %(name)s not satisfied"),
        AlertKind.CONFLICT_OPEN: _("%(agent)s: texts contradict each other"),
        AlertKind.RECALL_TEST_FAILED: _("%(agent)s: recall test %(name)s fails"),
        AlertKind.MEMORY_PRESSURE: _("Stored texts take %(name)s of their budget"),
        AlertKind.MODEL_FAILING: _("The language model %(name)s fails"),
    }
    return told[AlertKind(alert.kind)] % facts


def _disputing(alert: Alert) -> str:
    """Return whose texts contradict each other where they are not the agent's; empty for other alerts."""
    if alert.kind != AlertKind.CONFLICT_OPEN:
        return ""
    return {"team": alert.team_name, "organisation": _("The organisation")}.get(alert.detail.get("of", ""), "")
