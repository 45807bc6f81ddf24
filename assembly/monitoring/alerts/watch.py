"""Alerts are opened and closed as contexts are taken from the queue: once per change, not per context."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from assembly.engine.types import field_values
from assembly.models import Alert, AlertKind, Assembly, Conflict, WebhookEvent
from assembly.monitoring.alerts.findings import CONFLICT_PREFIX, Finding, findings
from assembly.monitoring.webhooks.delivery import alert_announce
from assembly.notifications.services import alert_notify
from assembly.records.reader import StoredAssembly
from assembly.records.record import RecordOwners
from config.db.statements import lock_until_commit
from teams.sensitivity import DEFAULT_LEVEL

ALERT_LOCK = 7_152_002
"""The lock for opening and closing alerts: one process at a time, in the order in which contexts were recorded."""

CHANGED = ("opened", "closed", "closed_in", "times", "context", "detail", "sensitivity")
"""The columns of an alert that a later context changes."""

Key = tuple[str, str, str]


class ContextGroup(NamedTuple):
    """The contexts of which a later one can show that a problem of an earlier one is gone."""

    agent_id: UUID
    team_id: UUID | None
    profile: str


class AlertBatch:
    """The changes to alerts by a batch of contexts, which are written together at the end."""

    def __init__(self) -> None:
        self._seen: list[tuple[Assembly, dict[Key, Finding]]] = []

    def add(self, assembly: Assembly, told: StoredAssembly) -> None:
        """Add a context with its record; the oldest come first."""
        self._seen.append((assembly, {finding.key: finding for finding in findings(told)}))

    def write(self) -> None:
        """Write the opened, closed and reopened alerts, and announce those that were opened, or closed for the first
        time.
        """
        if not self._seen:
            return
        lock_until_commit(ALERT_LOCK)
        known = self._known()
        board = AlertUpdates(known, _waiting_conflicts(known))
        for assembly, found in self._seen:
            board.see(assembly, found)
        board.write()

    def _known(self) -> Sequence[Alert]:
        """Return the alerts of these agents that are open, or may be reopened."""
        keys = {key for _, found in self._seen for key in found}
        again = Q(thing__in={thing for _, thing, _ in keys}, cause__in={cause for _, _, cause in keys})
        agents = {assembly.agent_id for assembly, _ in self._seen}
        of_contexts = Alert.objects.exclude(kind=AlertKind.RECALL_TEST_FAILED)
        return list(of_contexts.filter(Q(closed=None) | again, agent_id__in=agents))


def _waiting_conflicts(alerts: Sequence[Alert]) -> frozenset[str]:
    """Return the subjects of the open alerts about conflicts that wait for a person; one query, if there are any.

    Contexts on another topic do not have the two texts, and say nothing about their conflict.
    """
    things = {alert.thing for alert in alerts if alert.kind == AlertKind.CONFLICT_OPEN and alert.is_open}
    ids = [thing.removeprefix(CONFLICT_PREFIX) for thing in things]
    waiting = Conflict.objects.waiting().filter(id__in=ids).values_list("id", flat=True) if ids else ()
    return frozenset(f"{CONFLICT_PREFIX}{id_}" for id_ in waiting)


class AlertUpdates:
    """The alerts by the contexts that they are about, and how they change.

    `waiting` are the subjects of open alerts that no context closes.
    """

    def __init__(self, known: Sequence[Alert], waiting: Collection[str] = ()) -> None:
        self._waiting = waiting
        self._alerts: dict[ContextGroup, dict[Key, Alert]] = {}
        self._new: dict[UUID, Alert] = {}
        self._changed: dict[UUID, Alert] = {}
        self._events: list[tuple[WebhookEvent, Alert]] = []
        for alert in known:
            group = ContextGroup(alert.agent_id, alert.team_id, alert.profile_name)
            self._alerts.setdefault(group, {})[alert.kind, alert.thing, alert.cause] = alert

    def see(self, assembly: Assembly, found: dict[Key, Finding]) -> None:
        """Apply the problems that a context has, and has no more.

        A context from before an alert's last change is ignored.
        """
        mine = self._alerts.setdefault(ContextGroup(assembly.agent_id, assembly.team_id, assembly.profile_name), {})
        for key, finding in found.items():
            if key not in mine:
                mine[key] = self._open(assembly, finding)
            elif (closed := mine[key].closed) and closed < assembly.created:
                self._reopen(mine[key], assembly, finding)
        for key, alert in mine.items():
            if key in found or alert.thing in self._waiting:
                continue
            if alert.closed is None and alert.opened < assembly.created:
                self._close(alert, assembly)

    def write(self) -> None:
        """Write the changes with at most three statements, and one for each alert above internal, and announce them."""
        Alert.objects.bulk_create(self._new.values())
        changed = [alert for id_, alert in self._changed.items() if id_ not in self._new]
        plain = [alert for alert in changed if max(alert.sensitivity, alert.stored_level) <= DEFAULT_LEVEL]
        if plain:
            Alert.objects.bulk_update(plain, CHANGED)
        for alert in changed:
            if alert not in plain:  # its texts are sealed or opened
                alert.save(update_fields=[*CHANGED, "name"])
        for event, alert in self._events:
            alert_announce(event=event, alert=alert)
            if event == WebhookEvent.ALERT_OPENED:
                alert_notify(alert)

    def _open(self, assembly: Assembly, finding: Finding) -> Alert:
        kind, thing, cause = finding.key
        alert = Alert(
            **field_values(RecordOwners.recorded(assembly)),
            profile_name=assembly.profile_name,
            kind=kind,
            thing=thing,
            cause=cause,
            name=finding.name,
            detail=_detail(finding),
            context=assembly.id,
            sensitivity=assembly.sensitivity,
            opened=assembly.created,
        )
        self._new[alert.id] = alert
        self._events.append((WebhookEvent.ALERT_OPENED, alert))
        return alert

    def _reopen(self, alert: Alert, assembly: Assembly, finding: Finding) -> None:
        """Reopen the alert without an announcement: it was announced before, and nothing has changed since."""
        alert.opened, alert.context, alert.detail = assembly.created, assembly.id, _detail(finding)
        alert.closed, alert.closed_in, alert.times = None, None, alert.times + 1
        alert.sensitivity = assembly.sensitivity
        self._changed[alert.id] = alert

    def _close(self, alert: Alert, assembly: Assembly) -> None:
        alert.closed, alert.closed_in = assembly.created, assembly.id
        self._changed[alert.id] = alert
        if alert.times == 1:
            self._events.append((WebhookEvent.ALERT_CLOSED, alert))


def _detail(finding: Finding) -> dict[str, object]:
    return {"why": finding.why, **finding.facts}
