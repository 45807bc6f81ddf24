"""An alert tells that stored texts take too much of their budget; it is closed when the run has made room."""

from typing import Any

from django.dispatch import receiver

from assembly.models import AlertKind
from assembly.monitoring.alerts.installation_alerts import alert_close, alert_open
from memories.lifecycle.hourly_run import HIGH_SHARE, memory_pressure_changed

THING = "memory_budget"


@receiver(memory_pressure_changed)
def note_pressure(share: float, is_high: bool, **_: Any) -> None:
    """Open the alert where there is pressure and none is open; close it where there is none any more."""
    if is_high:
        why = f"Stored texts take {share:.0%} of their budget. From {HIGH_SHARE:.0%} on, some become cold."
        alert_open(kind=AlertKind.MEMORY_PRESSURE, thing=THING, name=f"{share:.0%}", why=why)
    else:
        alert_close(kind=AlertKind.MEMORY_PRESSURE, thing=THING)
