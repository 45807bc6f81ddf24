"""Alerts about the installation itself: they are about no agent and no context, and for admins of the organisation.

Only one alert of a kind about the same thing is open at a time. It is closed when the problem is gone.
"""

from typing import Any

from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone

from assembly.models import Alert, AlertKind, WebhookEvent
from assembly.monitoring.alerts.watch import alerts_lock
from assembly.monitoring.webhooks.delivery import alert_announce
from assembly.notifications.services import alert_notify
from config.db.migration_helpers import ORGANISATION
from memories.lifecycle.hourly_run import HIGH_SHARE, memory_pressure_changed

MEMORY_BUDGET = "memory_budget"


@transaction.atomic
def alert_open(*, kind: AlertKind, thing: str, name: str, why: str) -> None:
    """Open an alert, and announce it, where none of this kind about this thing is open."""
    alerts_lock()
    if Alert.objects.filter(kind=kind, thing=thing, closed=None).exists():
        return
    now = timezone.now()
    alert = Alert.objects.create(
        agent_id=ORGANISATION,
        agent_slug="",
        agent_name="Dossier",
        profile_name="",
        kind=kind,
        thing=thing,
        cause=now.isoformat(),
        name=name,
        detail={"why": why},
        opened=now,
    )
    alert_announce(event=WebhookEvent.ALERT_OPENED, alert=alert)
    alert_notify(alert)


@transaction.atomic
def alert_close(*, kind: AlertKind, thing: str) -> None:
    """Close the open alert of this kind about this thing, and announce it; without one nothing happens."""
    alerts_lock()
    found = Alert.objects.filter(kind=kind, thing=thing, closed=None).first()
    if found is not None:
        found.closed = timezone.now()
        found.save(update_fields=["closed"])
        alert_announce(event=WebhookEvent.ALERT_CLOSED, alert=found)


@receiver(memory_pressure_changed)
def note_pressure(share: float, is_high: bool, **_: Any) -> None:
    """Open the alert that stored texts take too much of their budget; close it when the run has made room."""
    if is_high:
        why = f"Stored texts take {share:.0%} of their budget. From {HIGH_SHARE:.0%} on, some become cold."
        alert_open(kind=AlertKind.MEMORY_PRESSURE, thing=MEMORY_BUDGET, name=f"{share:.0%}", why=why)
    else:
        alert_close(kind=AlertKind.MEMORY_PRESSURE, thing=MEMORY_BUDGET)
