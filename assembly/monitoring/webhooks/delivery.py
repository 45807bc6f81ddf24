"""Messages to webhooks are stored on commit and sent by jobs, which retry with growing pauses.

A test is sent at once. An abandoned message can be sent again; the record says by whom.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from assembly.models import Alert, Webhook, WebhookDelivery, WebhookEvent
from assembly.models.monitoring import MAX_FAULT_CHARACTERS
from assembly.monitoring.webhooks.http_post import SendOutcome, message_send, signed_headers
from config.http.encryption import UndecryptableSecret, decrypt
from config.http.errors import Conflict, DossierError
from memories.jobs.services import Advance, RetryLater, job_create, job_kind, job_retry
from memories.models import Job, JobStatus
from teams.principal import SYSTEM, Principal
from teams.sensitivity import DEFAULT_LEVEL
from teams.versioned_text.versioned_file import lock_row

DELIVERY = "webhook_delivery"
"""The kind of the jobs that send messages."""
TEST = "webhook.test"
"""The event of a test message."""
LOG_RETENTION = datetime.timedelta(days=30)


def event_announce(*, event: WebhookEvent, data: Mapping[str, Any], team_id: UUID | None = None) -> None:
    """Send the event to the organisation's webhooks that subscribed to it, and with a team to those of the team."""
    whose = Q(team=None) | Q(team=team_id) if team_id else Q(team=None)
    for webhook in Webhook.objects.filter(whose, active=True, events__contains=[event.value]).order_by("id"):
        delivery = delivery_new(webhook=webhook, event=event.value, data=data)
        job_create(kind=DELIVERY, arguments={"delivery": str(delivery.id)}, agent=None, principal=SYSTEM, steps=1)


def alert_announce(*, event: WebhookEvent, alert: Alert) -> None:
    """Announce an alert. The message says what the alert is about, but has no text of the context.

    An alert above internal is not announced, because its message would leave the installation.
    """
    if alert.sensitivity > DEFAULT_LEVEL:
        return
    data = {
        "alert_id": alert.id,
        "kind": alert.kind,
        "name": alert.name,
        "resource": alert.thing,
        "version": alert.cause,
        "reason": alert.detail["why"],
        "agent": alert.agent_slug,
        "team": alert.team_slug or None,
        "profile": alert.profile_name,
        "assembly_id": alert.closed_in or alert.context,
        "opened_at": alert.opened,
        "closed_at": alert.closed,
    }
    event_announce(event=event, data=data, team_id=alert.team_id)


def delivery_new(*, webhook: Webhook, event: str, data: Mapping[str, Any]) -> WebhookDelivery:
    """Create a message, which is the same at each attempt. Messages older than 30 days are deleted."""
    WebhookDelivery.objects.filter(webhook=webhook, created__lt=timezone.now() - LOG_RETENTION).delete()
    body = orjson.dumps({"type": event, "timestamp": timezone.now(), "data": data}).decode()
    return WebhookDelivery.objects.create(webhook=webhook, event=event, body=body)


RETRY_PAUSES = tuple(datetime.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120))
"""The pauses after the first attempt, the second …; after the fifth attempt, the message is abandoned."""
UNDECRYPTABLE_FAULT = "Its secret cannot be read, as SECRET_KEY was changed. Change the secret."


@job_kind(DELIVERY)
def delivery_run(job: Job, advance: Advance) -> None:
    """Send a message, unless it was delivered already, or its webhook is disabled or deleted. Raises RetryLater."""
    delivery = _pending(UUID(job.arguments["delivery"]))
    if delivery is not None:
        outcome = delivery_attempt(delivery)
        if not outcome.taken:
            pause = RETRY_PAUSES[min(job.attempts, len(RETRY_PAUSES)) - 1]
            # No label: the message stands in the log, which holds ids and nothing that people wrote.
            raise RetryLater(f"Webhook {delivery.webhook_id}: {outcome.fault}", pause)
    advance(1)


def webhook_test(*, webhook: Webhook, principal: Principal) -> WebhookDelivery:
    """Send a test message now. Return its result."""
    data = {"webhook": webhook.id, "sent_by": principal.name}
    delivery = delivery_new(webhook=webhook, event=TEST, data=data)
    delivery_attempt(delivery)
    return delivery


def delivery_attempt(delivery: WebhookDelivery) -> SendOutcome:
    """Send the message once, and store the result."""
    outcome = _send_delivery(delivery)
    delivery.attempted, delivery.attempts = timezone.now(), delivery.attempts + 1
    delivery.status, delivery.answer, delivery.ms = outcome.status, outcome.answer, outcome.ms
    delivery.fault, delivery.delivered = outcome.fault[:MAX_FAULT_CHARACTERS], outcome.taken
    delivery.save(update_fields=["attempted", "attempts", "status", "answer", "ms", "fault", "delivered"])
    return outcome


def _pending(id_: UUID) -> WebhookDelivery | None:
    waiting = WebhookDelivery.objects.filter(id=id_, delivered=False, webhook__active=True)
    return waiting.select_related("webhook").first()


def _send_delivery(delivery: WebhookDelivery) -> SendOutcome:
    webhook = delivery.webhook
    try:
        keys = [decrypt(webhook.sealed_secret)] + ([decrypt(webhook.sealed_before)] if webhook.uses_two_secrets else [])
    except UndecryptableSecret:
        return SendOutcome(None, "", UNDECRYPTABLE_FAULT, 0)
    timestamp = int(timezone.now().timestamp())
    headers = signed_headers(keys, message_id=f"msg_{delivery.id.hex}", timestamp=timestamp, body=delivery.body)
    outcome = message_send(url=webhook.url, headers=headers, body=delivery.body)
    # Admins of a team choose the address: what answers there, and how fast, would tell them of a network of others.
    return outcome.without_response() if outcome.is_private and webhook.team_id else outcome


RESENDS_KEY = "again"
"""The key in a job's arguments for who sent the message again, and when."""
MADE_WITHIN = datetime.timedelta(minutes=1)
"""A message and its job are created together, so the job is found by the index on its time."""
OFF = "The webhook is off, so nothing is sent to it. Switch it on, then send the message again."


class DeliveryNotGivenUp(DossierError):
    """Only an abandoned message can be sent again."""

    status = 409
    code = "delivery_not_abandoned"
    title = "This delivery was not abandoned"


@dataclass(frozen=True, slots=True)
class DeliveryResend:
    """Who sent an abandoned message again, and when."""

    by_ref: str
    by_name: str
    at: datetime.datetime


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """A message with the state of its job. `given_up`: it is not tried any more."""

    delivery: WebhookDelivery
    given_up: bool
    sent_again: Sequence[DeliveryResend]


def deliveries_of(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """Return the messages to the webhook, with the fields of their jobs that `delivery_status` needs."""
    job = (
        Job.objects.annotate(about=KeyTextTransform("delivery", "arguments"))
        .filter(kind=DELIVERY, about=Cast(OuterRef("id"), TextField()))
        .filter(created__gte=OuterRef("created"), created__lt=OuterRef("created") + MADE_WITHIN)
    )
    return WebhookDelivery.objects.filter(webhook=webhook).annotate(
        job_status=Subquery(job.values("status")[:1]), asked_again=Subquery(job.values(f"arguments__{RESENDS_KEY}")[:1])
    )


def delivery_status(delivery: WebhookDelivery) -> DeliveryStatus:
    """Return what the page and the API show of a message of `deliveries_of`, or of a test, which has no job."""
    facts = vars(delivery)
    again = [
        DeliveryResend(asked["ref"], asked["by"], datetime.datetime.fromisoformat(asked["at"]))
        for asked in facts.get("asked_again") or ()
    ]
    return DeliveryStatus(delivery, facts.get("job_status") == JobStatus.PARKED, again)


@transaction.atomic
def delivery_resend(*, delivery: WebhookDelivery, principal: Principal) -> None:
    """Send an abandoned message again, as often as a new one, with the same id for its receiver.

    Raises DeliveryNotGivenUp, also for a second request, and Conflict while the webhook is disabled.
    """
    if not delivery.webhook.active:
        raise Conflict(OFF)
    job = _job_of(delivery)
    if job is None or job.status != JobStatus.PARKED:
        raise DeliveryNotGivenUp("It was delivered, or is being delivered. See the page of its webhook.")
    asked = {"by": principal.name, "ref": principal.ref, "at": timezone.now().isoformat()}
    job.arguments = {**job.arguments, RESENDS_KEY: [*job.arguments.get(RESENDS_KEY, ()), asked]}
    job.save(update_fields=["arguments"])
    job_retry(job=job)


def _job_of(delivery: WebhookDelivery) -> Job | None:
    """Return the job that sends the message, locked; None for a test, which has none."""
    made = (delivery.created, delivery.created + MADE_WITHIN)
    job = Job.objects.filter(kind=DELIVERY, arguments__delivery=str(delivery.id), created__range=made).first()
    return lock_row(job) if job else None
