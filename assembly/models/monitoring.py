"""Alerts: what contexts lack that somebody should do something about, once for each thing that brought it about.

What was counted of the contexts: sums that stay when retention takes the contexts themselves.

Webhooks: addresses of others that are told what happens, and the log of what they were told.
"""

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
from teams.versioned_text.versioned_file import Signed

MAX_NAME_CHARACTERS = 200


class AlertKind(models.TextChoices):
    """What is wrong, with the word for it on a tag."""

    FILE_CUT = "file_cut", "cut"
    FILE_LEFT_OUT = "file_left_out", "left out"
    SECTION_MISSING = "section_missing", "missing"
    BUDGET_EXCEEDED = "budget_exceeded", "over the budget"
    RULE_NOT_KEPT = "rule_not_kept", "not kept"


class AlertQuerySet(VisibleQuerySet["Alert"]):
    def waiting(self) -> "AlertQuerySet":
        """Those that are still so and that nobody settled."""
        return self.filter(closed=None, settled=None)


class Alert(models.Model):
    """One thing that is wrong with the contexts of an agent in a team, or in none, by one profile.

    `thing` is what it is about, `cause` which version of it, or what else brought it about: while both stay, it is one
    alert, however many contexts have it and however often it goes and comes back. `opened` and `closed` are when the
    contexts were made that showed it first, and then no more. By value: it survives its agent and its team.
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
    name = models.CharField(max_length=MAX_NAME_CHARACTERS)
    detail = models.JSONField(default=dict)
    context = models.UUIDField()
    opened = models.DateTimeField()
    times = models.PositiveIntegerField(default=1)
    closed = models.DateTimeField(null=True)
    closed_in = models.UUIDField(null=True)
    seen = models.DateTimeField(null=True)
    seen_by = models.CharField(max_length=200, blank=True, default="")
    settled = models.DateTimeField(null=True)
    settled_by = models.CharField(max_length=200, blank=True, default="")

    objects = AlertQuerySet.as_manager()

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
        """Whether the newest context that could show it does."""
        return self.closed is None


class DayCountQuerySet(models.QuerySet["DayCount"]):
    def seen_by(
        self, principal: Principal, *, agent_id: UUID | None = None, team_id: UUID | None = None
    ) -> "DayCountQuerySet":
        """Those of contexts that the principal may read, whose agent *and* team it sees: of all of these, or of one
        agent, of one team, or of both together.

        Who sees everything and asks for all gets the sums of the organisation: one row for a day.
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
    """The contexts of one agent in one team, or in none, that were made on one day by UTC. The agent ORGANISATION has
    those of all agents and teams together.

    Whole numbers: tokens, milliseconds, items. The maps are JSON objects of such numbers: tokens by layer, contexts in
    which a file was cut by what its ref names, items left out by reason, contexts without a source that was late or
    failed by its name, contexts by warning, and contexts by how long they took
    (`assembly/monitoring/trends/counting.py`).
    """

    day = models.DateField()
    agent_id = models.UUIDField()
    team_id = models.UUIDField(null=True)
    contexts = models.BigIntegerField()
    repeats = models.BigIntegerField()
    tokens = models.BigIntegerField()
    budget = models.BigIntegerField()
    assembly_ms = models.BigIntegerField()
    considered = models.BigIntegerField()
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
    """The last day, by UTC, on which a memory was in a context. One that was never told has no row."""

    memory_id = models.UUIDField(primary_key=True)
    told_on = models.DateField()

    class Meta:
        db_table = "memory_tellings"


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
    def uses_two_secrets(self) -> bool:
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
