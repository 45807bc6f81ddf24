"""Messages that were given up: which these are, and sending one once more, with who asked for it on record."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from assembly.models import Webhook, WebhookDelivery
from assembly.webhooks.announcing import DELIVERY
from config.http.errors import Conflict, DossierError
from memories.jobs import job_retry
from memories.models import Job, JobStatus
from teams.files import locked
from teams.principal import Principal

AGAIN = "again"
"""Of a job's arguments: each who had the message sent once more, and when."""
MADE_WITHIN = datetime.timedelta(minutes=1)
"""A message and its job are made together, so that the job is found by the index on its time."""
OFF = "The webhook is off, so nothing is sent to it. Switch it on, then send the message again."


class NotGivenUp(DossierError):
    """Only a message that was given up can be sent again."""

    status = 409
    code = "delivery_not_given_up"
    title = "This message was not given up"


@dataclass(frozen=True, slots=True)
class SentAgain:
    """Who had a message sent once more that was given up, and when."""

    by: str
    at: datetime.datetime


@dataclass(frozen=True, slots=True)
class Told:
    """A message with what its job says of it. `given_up`: it is not tried any more."""

    delivery: WebhookDelivery
    given_up: bool
    sent_again: Sequence[SentAgain]


def deliveries_of(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """The messages to it, each with what `told_of` reads of its job."""
    job = (
        Job.objects.annotate(about=KeyTextTransform("delivery", "arguments"))
        .filter(kind=DELIVERY, about=Cast(OuterRef("id"), TextField()))
        .filter(created__gte=OuterRef("created"), created__lt=OuterRef("created") + MADE_WITHIN)
    )
    return WebhookDelivery.objects.filter(webhook=webhook).annotate(
        job_status=Subquery(job.values("status")[:1]), asked_again=Subquery(job.values(f"arguments__{AGAIN}")[:1])
    )


def told_of(delivery: WebhookDelivery) -> Told:
    """What page and API tell of one of `deliveries_of`; of a test that was sent just now, that it has no job."""
    facts = vars(delivery)
    again = [
        SentAgain(asked["by"], datetime.datetime.fromisoformat(asked["at"])) for asked in facts.get("asked_again") or ()
    ]
    return Told(delivery, facts.get("job_status") == JobStatus.PARKED, again)


@transaction.atomic
def delivery_resend(*, delivery: WebhookDelivery, principal: Principal) -> None:
    """Have a message sent again that was given up, as often as a new one. It stays the same message to its receiver.

    Raises NotGivenUp, also for who comes second, and Conflict while the webhook is off.
    """
    if not delivery.webhook.active:
        raise Conflict(OFF)
    job = _job_of(delivery)
    if job is None or job.status != JobStatus.PARKED:
        raise NotGivenUp("It was taken, or is still being sent. Look at what came of it on the page of its webhook.")
    asked = {"by": principal.name, "ref": principal.ref, "at": timezone.now().isoformat()}
    job.arguments = {**job.arguments, AGAIN: [*job.arguments.get(AGAIN, ()), asked]}
    job.save(update_fields=["arguments"])
    job_retry(job=job)


def _job_of(delivery: WebhookDelivery) -> Job | None:
    """The job that sends it, locked; None for a test, which has none."""
    made = (delivery.created, delivery.created + MADE_WITHIN)
    job = Job.objects.filter(kind=DELIVERY, arguments__delivery=str(delivery.id), created__range=made).first()
    return locked(job) if job else None
