"""An alert tells that the language model fails again and again; it is closed when the model answers."""

from typing import Any

from django.dispatch import receiver

from assembly.conflicts.language_model.model_in_use import language_model_changed
from assembly.models import AlertKind
from assembly.monitoring.alerts.installation_alerts import alert_close, alert_open

THING = "conflict_model"


@receiver(language_model_changed)
def note_failure(name: str, fault: str, **_: Any) -> None:
    """Open the alert where the model has a fault and none is open; close it where it has none."""
    if fault:
        why = f"Conflicts are found by cues alone, because the language model fails: {fault}"
        alert_open(kind=AlertKind.MODEL_FAILING, thing=THING, name=name, why=why)
    else:
        alert_close(kind=AlertKind.MODEL_FAILING, thing=THING)
