"""What people do with alerts: they have seen one, or settled it. Until a change brings about another, it is quiet."""

from django.db import transaction
from django.utils import timezone

from assembly.models import Alert
from teams.files import locked
from teams.principal import Principal


@transaction.atomic
def alert_see(*, alert: Alert, principal: Principal) -> Alert:
    """Somebody looks after it. Who said so first stays named."""
    current = locked(alert)
    if current.seen is None:
        current.seen, current.seen_by = timezone.now(), principal.name
        current.save(update_fields=["seen", "seen_by"])
    return current


@transaction.atomic
def alert_settle(*, alert: Alert, principal: Principal) -> Alert:
    """It needs nobody any more, be it still so or not. Who said so first stays named."""
    current = locked(alert)
    if current.settled is None:
        current.settled, current.settled_by = timezone.now(), principal.name
        current.save(update_fields=["settled", "settled_by"])
    return current


@transaction.atomic
def alert_take_up(*, alert: Alert) -> Alert:
    """It was settled too soon: it is as it was before."""
    current = locked(alert)
    current.settled, current.settled_by = None, ""
    current.save(update_fields=["settled", "settled_by"])
    return current
