"""These models store how often things were used, which policies hold, and what the runs of the lifecycle did."""

from typing import ClassVar

from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent
from teams.models import Team


class ThingUse(models.Model):
    """How many contexts of one UTC day included a thing (`told`), and how many only considered it (`considered`).

    `kind` is the prefix of the thing's refs; passages count for their document or file.
    """

    thing = models.UUIDField()
    day = models.DateField()
    kind = models.CharField(max_length=40)
    told = models.PositiveIntegerField(default=0)
    considered = models.PositiveIntegerField(default=0)
    woken = models.PositiveIntegerField(default=0, db_default=0)
    """How often it became searchable again because it was used."""

    class Meta:
        db_table = "thing_uses"
        constraints = [models.UniqueConstraint(fields=["thing", "day"], name="thing_use_once_a_day")]
        indexes = [models.Index(fields=["day"], name="thing_use_day")]


class KVPolicyVersion(models.Model):
    """One version of the policy of a content type, of the organisation (`team` is NULL) or of a team that overrides it.

    The newest version holds; where `policy` is NULL, the default holds again, for a team that of the organisation.
    """

    append_only: ClassVar[bool] = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, null=True, related_name="+")
    content_type = models.CharField(max_length=20)
    version = models.PositiveIntegerField()
    policy = models.JSONField(null=True)
    by_ref = models.CharField(max_length=80)
    by_name = models.CharField(max_length=200)
    note = models.CharField(max_length=200, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "kv_policy_versions"
        constraints = [
            models.UniqueConstraint(
                fields=["team", "content_type", "version"], nulls_distinct=False, name="kv_policy_version_once"
            )
        ]


class RequestedPolicy(models.Model):
    """The `kv_policy` of the last request with one whose context included this memory or event of its own agent."""

    thing = models.UUIDField(primary_key=True)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, related_name="+")
    policy = models.JSONField()
    created = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "requested_policies"


class TierCheck(models.Model):
    """When a thing that is hot is to be looked at again, because it may be time to compress it.

    `of_table` is the thing's table. A thing that is not hot any more, or was deleted, is taken off when it is due.
    """

    thing = models.UUIDField(primary_key=True)
    of_table = models.CharField(max_length=20)
    due = models.DateTimeField()

    class Meta:
        db_table = "tier_checks"
        indexes = [models.Index(fields=["of_table", "due", "thing"], name="tier_check_due")]


class LifecycleReport(models.Model):
    """What one step of a run did to which things.

    `detail` has the numbers and names of the step; `things` the refs that it changed, at most as many as are stored.
    """

    append_only: ClassVar[bool] = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    run = models.UUIDField()
    step = models.CharField(max_length=20)
    started = models.DateTimeField()
    created = models.DateTimeField(auto_now_add=True)
    changed = models.PositiveIntegerField()
    things = models.JSONField(default=list)
    detail = models.JSONField(default=dict)

    class Meta:
        db_table = "lifecycle_reports"
        indexes = [
            models.Index(fields=["-created", "-id"], name="lifecycle_report_newest"),
            models.Index(fields=["step", "-created", "-id"], name="lifecycle_report_of_step"),
        ]
