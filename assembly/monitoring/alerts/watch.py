"""Alerts are opened and closed as contexts are taken from the queue: once per change, not per context."""

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from agents.models import Agent
from assembly.engine.types import field_values
from assembly.models import Alert, AlertKind, Assembly, Conflict, WebhookEvent
from assembly.models.monitoring import CONFLICT_PREFIX
from assembly.monitoring.alerts.findings import Finding, findings
from assembly.monitoring.webhooks.delivery import alert_announce
from assembly.notifications.services import alert_notify
from assembly.records.reader import StoredAssembly
from assembly.records.record import RecordOwners
from config.db.statements import lock_until_commit
from teams.sensitivity import DEFAULT_LEVEL

ALERT_LOCK = 7_152_002
"""The lock for opening and closing alerts: one process at a time, in the order in which contexts were recorded."""

CHANGED = (
    *("opened", "closed", "closed_in", "times", "context", "detail", "sensitivity"),
    *(field.name for field in fields(RecordOwners)),
)
"""The columns of an alert that a later context changes."""

Key = tuple[str, str, str]


def alerts_lock() -> None:
    """Wait until nobody else opens or closes alerts.

    It comes before a conflict, a recall test or its results are locked or deleted: whoever has locked one of these
    never waits for this lock, because a transaction that closes several alerts holds it.
    """
    lock_until_commit(ALERT_LOCK)


def alerts_close(alerts: Iterable[Alert]) -> None:
    """Close open alerts now, and announce those that are closed for the first time; needs `alerts_lock`."""
    for alert in alerts:
        alert.closed = timezone.now()
        alert.save(update_fields=["closed"])
        if alert.times == 1:
            alert_announce(event=WebhookEvent.ALERT_CLOSED, alert=alert)


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
        alerts_lock()
        known = self._known()
        waiting = _waiting_conflicts([*self._conflicts(), *_open_conflicts(known)])
        board = AlertUpdates(known, waiting, _deleted_agents(known))
        for assembly, found in self._seen:
            board.see(assembly, found)
        board.write()

    def _known(self) -> Sequence[Alert]:
        """Return the alerts of these agents that are open or may be reopened, and those about the same conflicts."""
        keys = {key for _, found in self._seen for key in found}
        again = Q(thing__in={thing for _, thing, _ in keys}, cause__in={cause for _, _, cause in keys})
        agents = {assembly.agent_id for assembly, _ in self._seen}
        teams = {assembly.team_id for assembly, _ in self._seen if assembly.team_id}
        of_agents = (Q(closed=None) | again) & Q(agent_id__in=agents)
        of_conflicts = Q(thing__in=self._conflicts()) | Q(closed=None, team_id__in=teams)
        of_contexts = Alert.objects.exclude(kind=AlertKind.RECALL_TEST_FAILED)
        return list(of_contexts.filter(of_agents | of_conflicts & Q(kind=AlertKind.CONFLICT_OPEN)))

    def _conflicts(self) -> set[str]:
        """Return the conflicts that the contexts show, as subjects of alerts."""
        return {thing for _, found in self._seen for kind, thing, _ in found if kind == AlertKind.CONFLICT_OPEN}


class ConflictOwners(NamedTuple):
    """The agent and the team of the sides of a conflict, and its level; neither: both are texts of the organisation."""

    agent_id: UUID | None
    team_id: UUID | None
    sensitivity: int

    @property
    def narrowest(self) -> str:
        """The word for whom an alert about the conflict names."""
        return "agent" if self.agent_id else "team" if self.team_id else "organisation"


def _open_conflicts(alerts: Sequence[Alert]) -> set[str]:
    return {alert.thing for alert in alerts if alert.kind == AlertKind.CONFLICT_OPEN and alert.is_open}


def _deleted_agents(alerts: Sequence[Alert]) -> set[UUID]:
    """Return the deleted ones among the agents that alerts about conflicts name; at most one query."""
    named = {alert.agent_id for alert in alerts if alert.kind == AlertKind.CONFLICT_OPEN}
    return named - {*Agent.objects.filter(id__in=named).values_list("id", flat=True)} if named else set()


def _waiting_conflicts(things: Collection[str]) -> dict[str, ConflictOwners]:
    """Return the owners of those conflicts that wait for a person, by the subject of an alert; at most one query.

    Contexts on another topic do not have the two texts, and say nothing about their conflict.
    """
    ids = {thing.removeprefix(CONFLICT_PREFIX) for thing in things}
    waiting = Conflict.objects.waiting().filter(id__in=ids) if ids else Conflict.objects.none()
    rows = waiting.values_list("id", "agent_id", "team_id", "sensitivity")
    return {
        f"{CONFLICT_PREFIX}{id_}": ConflictOwners(agent_id, team_id, sensitivity)
        for id_, agent_id, team_id, sensitivity in rows
    }


class AlertUpdates:
    """The alerts by the contexts that they are about, and how they change.

    A conflict has one alert, whatever agents, teams and profiles meet it. `waiting` are the conflicts that wait for a
    person, by the subject of their alert, which no context closes. An alert about one that names a deleted agent would
    be shown to admins alone, so it names the agent that meets the conflict next.
    """

    def __init__(
        self,
        known: Sequence[Alert],
        waiting: Mapping[str, ConflictOwners] | None = None,
        deleted_agents: Collection[UUID] = (),
    ) -> None:
        self._waiting = waiting or {}
        self._deleted_agents = deleted_agents
        self._alerts: dict[ContextGroup, dict[Key, Alert]] = {}
        self._of_conflicts: dict[str, list[Alert]] = {}
        self._new: dict[UUID, Alert] = {}
        self._changed: dict[UUID, Alert] = {}
        self._events: list[tuple[WebhookEvent, Alert]] = []
        for alert in known:
            if alert.kind == AlertKind.CONFLICT_OPEN:
                self._of_conflicts.setdefault(alert.thing, []).append(alert)
                continue
            group = ContextGroup(alert.agent_id, alert.team_id, alert.profile_name)
            self._alerts.setdefault(group, {})[alert.kind, alert.thing, alert.cause] = alert

    def see(self, assembly: Assembly, found: Mapping[Key, Finding]) -> None:
        """Apply the problems that a context has, and has no more.

        A context from before an alert's last change is ignored.
        """
        mine = self._alerts.setdefault(ContextGroup(assembly.agent_id, assembly.team_id, assembly.profile_name), {})
        for key, finding in found.items():
            if finding.kind == AlertKind.CONFLICT_OPEN:
                self._see_conflict(assembly, finding)
            elif key not in mine:
                owners = RecordOwners.recorded(assembly)
                mine[key] = self._open(assembly, finding, owners, assembly.profile_name)
            elif (closed := mine[key].closed) and closed < assembly.created:
                self._reopen(mine[key], assembly, finding)
        gone = [alert for key, alert in mine.items() if key not in found]
        for thing, alerts in self._of_conflicts.items():
            gone += [] if thing in self._waiting else alerts
        for alert in gone:
            if alert.closed is None and alert.opened < assembly.created:
                self._close(alert, assembly)

    def _see_conflict(self, assembly: Assembly, finding: Finding) -> None:
        """Open or reopen the one alert about a conflict that waits for a person, and close others about it.

        Older alerts are about one profile, so that a conflict may have several.
        """
        owners = self._waiting.get(finding.thing)
        if owners is None:
            return  # it was decided after this context
        finding = replace(finding, facts={**finding.facts, "of": owners.narrowest})
        mine = RecordOwners.recorded(assembly)
        mine = mine if owners.team_id else replace(mine, team_id=None, team_slug="", team_name="")
        alerts = self._of_conflicts.setdefault(finding.thing, [])
        holding = sorted((alert for alert in alerts if alert.is_open), key=self._rank)
        for repeated in holding[1:]:
            self._close(repeated, assembly)
        if not alerts:
            alert = self._open(assembly, finding, mine)
            alert.sensitivity = owners.sensitivity  # whatever else that context had
            alerts.append(alert)
        elif holding:
            self._name_again(holding[0], mine)
        else:
            newest = max(alerts, key=lambda alert: (not self._is_orphan(alert), _closed(alert)))
            if _closed(newest) < assembly.created:
                self._reopen(newest, assembly, finding)
                self._name_again(newest, mine)
                newest.sensitivity = owners.sensitivity

    def _rank(self, alert: Alert) -> tuple[bool, bool, datetime.datetime]:
        """Return what to order the open alerts about one conflict by: the first one stays open."""
        return self._is_orphan(alert), alert.settled is not None, alert.opened

    def _is_orphan(self, alert: Alert) -> bool:
        return alert.agent_id in self._deleted_agents

    def _name_again(self, alert: Alert, owners: RecordOwners) -> None:
        """Have an alert that names a deleted agent name these owners."""
        if self._is_orphan(alert):
            for name, value in field_values(owners).items():
                setattr(alert, name, value)
            self._changed[alert.id] = alert

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

    def _open(self, assembly: Assembly, finding: Finding, owners: RecordOwners, profile: str = "") -> Alert:
        kind, thing, cause = finding.key
        alert = Alert(
            **field_values(owners),
            profile_name=profile,
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


def _closed(alert: Alert) -> datetime.datetime:
    return alert.closed or alert.opened
