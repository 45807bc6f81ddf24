"""Alerts: what contexts lack that somebody should do something about, once for each thing that brought it about."""

from django.db import models
from uuid_utils.compat import uuid7

from assembly.models.seen import SeenQuerySet

MAX_NAME_CHARACTERS = 200


class AlertKind(models.TextChoices):
    """What is wrong, with the word for it on a tag."""

    FILE_CUT = "file_cut", "cut"
    FILE_LEFT_OUT = "file_left_out", "left out"
    SECTION_MISSING = "section_missing", "missing"
    BUDGET_EXCEEDED = "budget_exceeded", "over the budget"
    RULE_NOT_KEPT = "rule_not_kept", "not kept"


class AlertQuerySet(SeenQuerySet["Alert"]):
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
