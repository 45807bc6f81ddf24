"""Telling webhooks what happened: a message for each of those that want to know, sent once this is committed."""

import datetime
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q
from django.utils import timezone

from assembly.models import Alert, Webhook, WebhookDelivery, WebhookEvent
from memories.jobs import job_create
from teams.principal import SYSTEM

DELIVERY = "webhook_delivery"
"""The kind of its jobs."""
TEST = "webhook.test"
"""The event of a message that somebody sends to see whether it arrives."""
KEPT = datetime.timedelta(days=30)


def announce(*, event: WebhookEvent, data: Mapping[str, Any], team_id: UUID | None = None) -> None:
    """Tell the webhooks of the organisation that want to know, and with a team those of that team."""
    whose = Q(team=None) | Q(team=team_id) if team_id else Q(team=None)
    for webhook in Webhook.objects.filter(whose, active=True, events__contains=[event.value]).order_by("id"):
        delivery = delivery_new(webhook=webhook, event=event.value, data=data)
        job_create(kind=DELIVERY, arguments={"delivery": str(delivery.id)}, agent=None, principal=SYSTEM, steps=1)


def alert_announce(*, event: WebhookEvent, alert: Alert) -> None:
    """Tell of an alert. What the context said is not told along: only what it is about."""
    data = {
        "alert": alert.id,
        "kind": alert.kind,
        "name": alert.name,
        "thing": alert.thing,
        "cause": alert.cause,
        "why": alert.detail["why"],
        "agent": alert.agent_slug,
        "team": alert.team_slug or None,
        "profile": alert.profile_name,
        "context": alert.closed_in or alert.context,
        "opened": alert.opened,
        "closed": alert.closed,
    }
    announce(event=event, data=data, team_id=alert.team_id)


def delivery_new(*, webhook: Webhook, event: str, data: Mapping[str, Any]) -> WebhookDelivery:
    """A message to be sent, as it will be sent each time. What is older than 30 days goes from the log."""
    WebhookDelivery.objects.filter(webhook=webhook, created__lt=timezone.now() - KEPT).delete()
    body = orjson.dumps({"type": event, "timestamp": timezone.now(), "data": data}).decode()
    return WebhookDelivery.objects.create(webhook=webhook, event=event, body=body)
