"""Alerts about conflicts: they stay open as long as the conflict waits for a person, and a decision closes them.

Contexts on another topic do not have the two texts, so unlike other problems, a conflict is not gone when a later
context does not show it.
"""

from assembly.models import Alert, AlertKind, Conflict
from assembly.models.monitoring import CONFLICT_PREFIX
from assembly.monitoring.alerts.watch import alerts_close


def conflict_alerts_close(conflict: Conflict) -> None:
    """Close the open alerts about a conflict on which somebody decided, and announce it; needs `alerts_lock`.

    They may be more sensitive than what the person reads, so they are closed whoever decides.
    """
    mine = Alert.everything.filter(kind=AlertKind.CONFLICT_OPEN, thing=f"{CONFLICT_PREFIX}{conflict.id}")
    alerts_close(mine.filter(closed=None))
