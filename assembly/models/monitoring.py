"""Alerts, daily counts of contexts, and webhooks with their deliveries are stored here.

An alert is stored once per cause. Counts are sums that outlive the contexts that retention deletes. A webhook is an
address that is notified of events, and each delivery logs one notification.
"""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from uuid_utils.compat import uuid7

from agents.models import Agent
from assembly.models.assembly import VisibleQuerySet
from assembly.models.external_source import MAX_LABEL_CHARACTERS, MAX_URL_CHARACTERS
from config.db.migration_helpers import ORGANISATION
from teams.models import Team
from teams.principal import Principal
from teams.sealing.fields import SealedRecordJson, SealedRecordText
from teams.sensitivity import Sensitive, SensitiveManager
from teams.versioned_text.versioned_file import Signed

MAX_NAME_CHARACTERS = 200
CONFLICT_PREFIX = "conflict:"
"""The subject of an alert about a conflict begins with this, before the id of the conflict."""


class AlertKind(models.TextChoices):
    """What is wrong with a context; the label is the word on a tag."""

    FILE_CUT = "file_cut", "truncated"
    FILE_LEFT_OUT = "file_left_out", "excluded"
    SECTION_MISSING = "section_missing", "missing"
    BUDGET_EXCEEDED = "budget_exceeded", "over the budget"
    RULE_NOT_KEPT = "rule_not_kept", "not satisfied"
    CONFLICT_OPEN = "conflict_open", "disputed"
    RECALL_TEST_FAILED = "recall_test_failed", "test failed"
    MEMORY_PRESSURE = "memory_pressure", "memory pressure"
    MODEL_FAILING = "model_failing", "model fails"


class AlertQuerySet(VisibleQuerySet["Alert"]):
    def waiting(self) -> "AlertQuerySet":
        """Return the alerts that still hold and that nobody resolved."""
        return self.filter(closed=None, settled=None)


class Alert(Sensitive):
    """One problem of the contexts of an agent, in one team or in none, with one profile.

    `thing` is what the alert is about, `cause` its version or another cause: as long as both are the same, it is
    one alert, however many contexts have the problem and however often it disappears and returns. `opened` is when the
    first context with the problem was made, `closed` when the first one without it was made. Agent and team are stored
    by value, so that the alert outlives them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    agent_id = models.UUIDField()
    agent_slug = models.CharField(max_length=60)
    agent_name = models.CharField(max_length=120)
    team_id = models.UUIDField(null=True)
    team_slug = models.CharField(max_length=60, blank=True)
    team_name = models.CharField(max_length=120, blank=True)
    profile_name = models.CharField(max_length=60)
    kind = models.CharField(max_length=20, choices=AlertKind.choices)
    thing = models.CharField(max_length=160)
    cause = models.CharField(max_length=160)
    name = SealedRecordText(max_length=MAX_NAME_CHARACTERS)
    detail: Any = SealedRecordJson(default=dict)
    context = models.UUIDField(null=True)
    """The context that showed the problem; None for a recall test, which is run on simulated contexts."""
    opened = models.DateTimeField()
    times = models.PositiveIntegerField(default=1)
    closed = models.DateTimeField(null=True)
    closed_in = models.UUIDField(null=True)
    seen = models.DateTimeField(null=True)
    seen_by = models.CharField(max_length=200, blank=True, default="")
    seen_by_ref = models.CharField(max_length=80, blank=True, default="", db_default="")
    settled = models.DateTimeField(null=True)
    settled_by = models.CharField(max_length=200, blank=True, default="")
    settled_by_ref = models.CharField(max_length=80, blank=True, default="", db_default="")

    owner_columns: ClassVar = {"agent": "agent_id", "team": "team_id", "organisation": ""}
    owners_together = True
    outlives_agent = True

    objects: ClassVar = SensitiveManager.from_queryset(AlertQuerySet)()
    everything: ClassVar = models.Manager()

    class Meta:
        db_table = "alerts"
        constraints = [
            models.UniqueConstraint(
                fields=["agent_id", "team_id", "profile_name", "kind", "thing", "cause"],
                nulls_distinct=False,
                name="alert_once_per_change",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=AlertKind.values), name="alert_kind_known"),
        ]
        indexes = [
            models.Index(fields=["-created", "-id"], name="alert_newest"),
            models.Index(
                fields=["-created", "-id"], condition=models.Q(closed=None, settled=None), name="alert_waiting"
            ),
        ]

    @property
    def is_open(self) -> bool:
        """Whether the newest context that could have the problem has it."""
        return self.closed is None


class DayCountQuerySet(models.QuerySet["DayCount"]):
    def seen_by(
        self, principal: Principal, *, agent_id: UUID | None = None, team_id: UUID | None = None
    ) -> "DayCountQuerySet":
        """Return the counts of contexts whose agent *and* team the principal may read, of one agent or team if given.

        For an admin without an agent and a team, these are the sums of the organisation: one row per day.
        """
        if principal.is_admin and not agent_id and not team_id:
            return self.filter(agent_id=ORGANISATION)
        rows = self.filter(agent_id=agent_id) if agent_id else self
        rows = rows.filter(team_id=team_id) if team_id else rows
        if principal.is_admin:
            return rows
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return rows.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)


class DayCount(models.Model):
    """Statistics of the contexts of one agent, in one team or in none, made on one day (UTC).

    The agent ORGANISATION has the sums of all agents and teams. All values are whole numbers: tokens, milliseconds,
    items. `contexts_with_file_loss` counts the contexts that truncated a file, or excluded it for lack of budget. The
    maps are JSON objects of such numbers: tokens by layer; contexts that truncated or excluded a file, by the file's
    ref without version; excluded items by reason; contexts with a source that was late or failed, by its name; contexts
    by warning; and contexts by duration (`assembly/monitoring/trends/counting.py`). `quality_sums` adds up the measures
    of quality, by name, in thousandths; `quality_counts` has the contexts of which each is known.
    """

    day = models.DateField()
    agent_id = models.UUIDField()
    team_id = models.UUIDField(null=True)
    contexts = models.BigIntegerField()
    repeats = models.BigIntegerField()
    contexts_with_file_loss = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField()
    budget = models.BigIntegerField()
    assembly_ms = models.BigIntegerField()
    considered = models.BigIntegerField()
    quality_sums = models.JSONField(default=dict)
    quality_counts = models.JSONField(default=dict)
    layers = models.JSONField()
    cut = models.JSONField()
    left_out = models.JSONField()
    late = models.JSONField()
    failed = models.JSONField()
    warnings = models.JSONField()
    durations = models.JSONField()

    objects = DayCountQuerySet.as_manager()

    class Meta:
        db_table = "context_counts"
        constraints = [
            models.UniqueConstraint(
                fields=["day", "agent_id", "team_id"], nulls_distinct=False, name="context_count_once"
            )
        ]
        indexes = [
            models.Index(fields=["agent_id", "day"], name="context_count_agent"),
            models.Index(fields=["team_id", "day"], name="context_count_team"),
        ]


class MemoryTelling(models.Model):
    """The last day (UTC) on which a memory was included in a context; a memory that never was has no row."""

    memory_id = models.UUIDField(primary_key=True)
    told_on = models.DateField()

    class Meta:
        db_table = "memory_tellings"


MAX_ANSWER_CHARACTERS = 500
MAX_FAULT_CHARACTERS = 300


class WebhookEvent(models.TextChoices):
    """The events that a webhook can be notified of."""

    ALERT_OPENED = "alert.opened", "An alert is opened"
    ALERT_CLOSED = "alert.closed", "An alert is closed"
    RECORDS_DAMAGED = "records.damaged", "Records of contexts are damaged"


class Webhook(Signed):
    """An address that is notified of events of one team, or, without a team, of the whole organisation.

    The secrets are encrypted with the installation's SECRET_KEY. Until `before_until`, messages are also signed with
    the previous secret.
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
    def uses_two_secrets(self) -> bool:
        """Whether the secret was changed recently, so that the previous one is still valid."""
        return self.before_until is not None and self.before_until > timezone.now()


class WebhookDelivery(models.Model):
    """One message to one webhook: its exact body, and the result of the last attempt to send it.

    `status` is the HTTP status and `answer` the beginning of the response; None and empty if there was no response.
    `fault` says in plain words what went wrong. `ms` is the duration of the last attempt in milliseconds.
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


class FileLoss(models.Model):
    """A file that a context truncated, or excluded for lack of budget, and how many of its tokens were missing.

    `ref` is that of the file without its version. The row is deleted with the context.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    assembly_id = models.UUIDField()
    created = models.DateTimeField()
    """The time of the context."""
    agent_id = models.UUIDField()
    team_id = models.UUIDField(null=True)
    ref = models.CharField(max_length=160)
    version = models.PositiveIntegerField()
    is_excluded = models.BooleanField()
    tokens_lost = models.PositiveIntegerField()

    class Meta:
        db_table = "file_losses"
        constraints = [models.UniqueConstraint(fields=["assembly_id", "ref"], name="file_loss_once")]
        indexes = [
            models.Index(fields=["ref", "-created"], name="file_loss_of_file"),
            models.Index(fields=["-created"], name="file_loss_newest"),
        ]
