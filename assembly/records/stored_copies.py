"""Copies of texts that are stored for some days follow the level of the texts that they were made of.

Plans of imports and prepared lists of contexts have texts that their requesters could read when they were made. When a
text is raised, each is checked anew: a plan is compared again with what its requester may read now, and a list has to
be requested again. Messages to webhooks about an alert that is raised are deleted, and are not sent any more.
"""

from collections.abc import Collection
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from assembly.models import ContextFile, WebhookDelivery
from memories.models import ImportPlan


def copies_check_again() -> None:
    """Have each stored copy checked anew before it is shown, unless to admins of the organisation."""
    for model in (ImportPlan, ContextFile):
        model.objects.exclude(visibility={}).update(visibility={})


def alert_messages_delete(alerts: Collection[UUID]) -> None:
    """Delete the messages about these alerts, whether they were sent or not."""
    if alerts:
        about = (Q(body__contains=f'"alert_id":"{alert}"') for alert in alerts)
        WebhookDelivery.objects.filter(reduce(or_, about)).delete()
