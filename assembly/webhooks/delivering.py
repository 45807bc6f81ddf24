"""Sending messages: at once for a test, by jobs for all others, again and again with growing pauses."""

import datetime
from uuid import UUID

from django.utils import timezone

from assembly.models import Webhook, WebhookDelivery
from assembly.models.webhook import MAX_FAULT_CHARACTERS
from assembly.webhooks.announcing import DELIVERY, TEST, delivery_new
from assembly.webhooks.exchange import Outcome, message_send
from assembly.webhooks.signing import headers_of
from config.http.encryption import SecretLost, decrypt
from memories.jobs import Advance, RetryLater, job_kind
from memories.models import Job
from teams.principal import Principal

PAUSES = tuple(datetime.timedelta(minutes=minutes) for minutes in (1, 5, 30, 120))
"""After the first attempt, the second …; after the fifth, the job is given up."""
LOST = "Its secret cannot be read, as SECRET_KEY was changed. Change the secret."


@job_kind(DELIVERY)
def delivery_run(job: Job, advance: Advance) -> None:
    """Send one message, unless it was taken already, or its webhook is switched off or gone. Raises RetryLater."""
    delivery = _pending(UUID(job.arguments["delivery"]))
    if delivery is not None:
        outcome = delivery_attempt(delivery)
        if not outcome.taken:
            pause = PAUSES[min(job.attempts, len(PAUSES)) - 1]
            # No label: the message stands in the log, which holds ids and nothing that people wrote.
            raise RetryLater(f"Webhook {delivery.webhook_id}: {outcome.fault}", pause)
    advance(1)


def webhook_test(*, webhook: Webhook, principal: Principal) -> WebhookDelivery:
    """Send a message now that says nothing but that it is a test. Returns what came of it."""
    data = {"webhook": webhook.id, "sent_by": principal.name}
    delivery = delivery_new(webhook=webhook, event=TEST, data=data)
    delivery_attempt(delivery)
    return delivery


def delivery_attempt(delivery: WebhookDelivery) -> Outcome:
    """Send the message once, and note what came of it."""
    outcome = _sent(delivery)
    delivery.attempted, delivery.attempts = timezone.now(), delivery.attempts + 1
    delivery.status, delivery.answer, delivery.ms = outcome.status, outcome.answer, outcome.ms
    delivery.fault, delivery.delivered = outcome.fault[:MAX_FAULT_CHARACTERS], outcome.taken
    delivery.save(update_fields=["attempted", "attempts", "status", "answer", "ms", "fault", "delivered"])
    return outcome


def _pending(id_: UUID) -> WebhookDelivery | None:
    waiting = WebhookDelivery.objects.filter(id=id_, delivered=False, webhook__active=True)
    return waiting.select_related("webhook").first()


def _sent(delivery: WebhookDelivery) -> Outcome:
    webhook = delivery.webhook
    try:
        keys = [decrypt(webhook.sealed_secret)] + ([decrypt(webhook.sealed_before)] if webhook.signs_twice else [])
    except SecretLost:
        return Outcome(None, "", LOST, 0)
    timestamp = int(timezone.now().timestamp())
    headers = headers_of(keys, message_id=f"msg_{delivery.id.hex}", timestamp=timestamp, body=delivery.body)
    outcome = message_send(url=webhook.url, headers=headers, body=delivery.body)
    # Admins of a team choose the address: what answers there, and how fast, would tell them of a network of others.
    return outcome.without_traces() if outcome.is_private and webhook.team_id else outcome
