"""A line of the log of readings, which is never changed and deleted when its time is over."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from teams.sensitivity import Sensitivity

MAX_REASON_CHARACTERS = 200


class ReadingKind(models.TextChoices):
    """How something was read."""

    READ = "read", _("Opened")
    LISTED = "listed", _("Seen in a list")
    EXPORTED = "exported", _("Downloaded")


class ReadingReasons(models.TextChoices):
    """For what a team demands a reason before somebody opens or downloads it."""

    NEVER = "never", _("Nothing")
    RESTRICTED = "restricted", _("What is restricted")
    CONFIDENTIAL = "confidential", _("What is confidential or restricted")


class Reading(models.Model):
    """A line says who read what, when, from where, and by which page or endpoint. It has no text of what was read.

    A line of kind READ is about one thing. The others are about all things of one owner that an answer had. The owner
    is an agent, a team, both (of a context, for example), or, if both are null, the organisation.

    `team_ids` are the teams whose admins may read the line: the owner, or the teams that the agent had then.
    """

    append_only = True

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created = models.DateTimeField()
    actor = models.CharField(max_length=80)
    """The ref of the person or of the admin key."""
    actor_name = models.CharField(max_length=120, blank=True)
    kind = models.CharField(max_length=10, choices=ReadingKind.choices)
    level = models.SmallIntegerField(choices=Sensitivity.choices)
    """The highest level of the things."""
    things = ArrayField(models.UUIDField())
    """The ids of the things, sorted."""
    counts = models.JSONField()
    """The numbers of the things by their kind, such as {"memory": 2}."""
    agent_id = models.UUIDField(null=True)
    team_id = models.UUIDField(null=True)
    team_ids = ArrayField(models.UUIDField())
    address = models.CharField(max_length=45, blank=True)
    """The IP address of the client."""
    reason = models.CharField(max_length=MAX_REASON_CHARACTERS, blank=True, default="", db_default="")
    """Why the person read it, where a team of the owner demands a reason."""
    route = models.CharField(max_length=200)
    """The method and the pattern of the address, such as `GET /memories/<uuid:id_>/`."""

    class Meta:
        db_table = "readings"
        ordering: ClassVar[list[str]] = ["-created", "-id"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["-created", "-id"], name="readings_newest"),
            models.Index(fields=["actor", "-created"], name="readings_of_actor"),
            GinIndex(fields=["things"], name="readings_of_things"),
            GinIndex(fields=["team_ids"], name="readings_of_teams"),
        ]
