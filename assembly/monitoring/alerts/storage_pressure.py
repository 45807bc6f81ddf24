"""An alert tells that stored texts take too much of their budget; it is closed when the run has made room."""

from typing import Any

from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone

from assembly.models import Alert, AlertKind, WebhookEvent
from assembly.monitoring.alerts.watch import ALERT_LOCK
from assembly.monitoring.webhooks.delivery import alert_announce
from assembly.notifications.services import alert_notify
from config.db.migration_helpers import ORGANISATION
from config.db.statements import lock_until_commit
from memories.lifecycle.hourly_run import HIGH_SHARE, memory_pressure_changed

THING = "memory_budget"


@receiver(memory_pressure_changed)
@transaction.atomic
def note_pressure(share: float, is_high: bool, **_: Any) -> None:
    """Open the alert where there is pressure and none is open; close it where there is none any more."""
    lock_until_commit(ALERT_LOCK)
    found = Alert.objects.filter(kind=AlertKind.MEMORY_PRESSURE, thing=THING, closed=None).first()
    now = timezone.now()
    if is_high and found is None:
        alert = Alert.objects.create(
            agent_id=ORGANISATION,
            agent_slug="",
            agent_name="Dossier",
            profile_name="",
            kind=AlertKind.MEMORY_PRESSURE,
            thing=THING,
            cause=now.isoformat(),
            name=f"{share:.0%}",
            detail={
                "why": f"Stored texts take {share:.0%} of their budget. From {HIGH_SHARE:.0%} on, some become cold."
            },
            opened=now,
        )
        alert_announce(event=WebhookEvent.ALERT_OPENED, alert=alert)
        alert_notify(alert)
    elif not is_high and found is not None:
        found.closed = now
        found.save(update_fields=["closed"])
        alert_announce(event=WebhookEvent.ALERT_CLOSED, alert=found)
