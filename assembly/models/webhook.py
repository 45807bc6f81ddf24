"""Webhooks: addresses of others that are told what happens, and the log of what they were told."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

from assembly.models.external import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from teams.files import Signed
from teams.models import Team

MAX_ANSWER_CHARACTERS = 500
MAX_FAULT_CHARACTERS = 300


class WebhookEvent(models.TextChoices):
    """What a webhook can be told."""

    ALERT_OPENED = "alert.opened", "An alert is opened"
    ALERT_CLOSED = "alert.closed", "An alert is closed"
    RECORDS_DAMAGED = "records.damaged", "Records of contexts are damaged"


class Webhook(Signed):
    """An address that is told of events: those of one team, or without one all of the organisation's.

    The secrets can be read with the installation's SECRET_KEY alone. Until `before_until` messages are signed with the
    one before, too.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    label = models.CharField(max_length=MAX_LABEL_CHARACTERS)
    url = models.CharField(max_length=MAX_URL_CHARACTERS)
    events = ArrayField(models.CharField(max_length=30, choices=WebhookEvent.choices))
    active = models.BooleanField(default=True)
    sealed_secret = models.TextField()
    sealed_before = models.TextField(blank=True, default="")
    before_until = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "webhooks"
        constraints = [models.CheckConstraint(condition=models.Q(version__gte=1), name="webhook_version_from_1")]

    def __str__(self) -> str:
        return self.label

    @property
    def signs_twice(self) -> bool:
        """Whether the secret was changed lately, so that the one before still counts."""
        return self.before_until is not None and self.before_until > timezone.now()


class WebhookDelivery(models.Model):
    """One message to one webhook: the exact body, and what came of the last attempt to send it.

    `status` is that of HTTP, `answer` its beginning; None and empty where nobody answered. `fault` says in plain words
    what went wrong. `ms` is how long the last attempt took.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    webhook = models.ForeignKey(
        Webhook, models.DO_NOTHING, db_constraint=False, related_name="deliveries", db_index=False
    )
    event = models.CharField(max_length=30)
    body = models.TextField()
    created = models.DateTimeField(auto_now_add=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    attempted = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.CharField(max_length=MAX_ANSWER_CHARACTERS, blank=True, default="")
    ms = models.PositiveIntegerField(null=True)
    fault = models.CharField(max_length=MAX_FAULT_CHARACTERS, blank=True, default="")
    delivered = models.BooleanField(default=False)

    class Meta:
        db_table = "webhook_deliveries"
        indexes = [models.Index(fields=["webhook", "-created", "-id"], name="webhook_delivery_newest")]
