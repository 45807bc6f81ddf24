"""Models of agents, their files, daily logs and keys."""

import datetime
from typing import ClassVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Left
from uuid_utils.compat import uuid7

from teams.models import Team, valid_slug
from teams.principal import EDIT_AGENT_FILES, EDIT_TEAM_FILES, Action, Principal, key_permits
from teams.secret_scanning.handling import strictest
from teams.sensitivity import (
    LEVEL_CHOICES,
    OF_VERSION,
    READ_CONFIDENTIAL,
    READ_RESTRICTED,
    Sensitive,
    Sensitivity,
)
from teams.versioned_text.versioned_file import Version, VersionedFile

SEARCHED_CHARACTERS = 100_000
"""The number of characters of a daily log that are searched: PostgreSQL indexes at most a megabyte of
words per text.
"""
WORDS_OF_LOG = SearchVector(Left("content", SEARCHED_CHARACTERS), config="english")


def valid_timezone(name: str) -> None:
    """Raise ValidationError if the name is no IANA time zone."""
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        raise ValidationError("Use a time zone like Europe/Berlin or UTC.", code="timezone") from None


class AgentQuerySet(models.QuerySet["Agent"]):
    def permitting(self, action: Action, principal: Principal) -> "AgentQuerySet":
        """Return the agents on which the principal may perform the action: by their teams, or because the key belongs
        to the agent.
        """
        if principal.is_admin:
            return self
        if principal.kind == "person":
            teams = Team.objects.permitting(action, principal)
            return self.filter(id__in=AgentTeam.objects.filter(team__in=teams).values("agent_id"))
        if principal.agent_id is None or not key_permits(principal, action, EDIT_AGENT_FILES):
            return self.none()
        return self.filter(id=principal.agent_id)

    def visible_to(self, principal: Principal) -> "AgentQuerySet":
        """The agents that the principal may read."""
        return self.permitting(Action.READ, principal)

    def editable_by(self, principal: Principal) -> "AgentQuerySet":
        """The agents whose files the principal may edit."""
        return self.permitting(Action.EDIT, principal)


class Agent(models.Model):
    """An AI agent. `instructions` is the legacy column that provisioning moves into its INSTRUCTIONS file."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.CharField(max_length=60, unique=True, validators=[valid_slug])
    name = models.CharField(max_length=120)
    instructions = models.TextField(blank=True, default="")
    timezone = models.CharField(max_length=60, default="UTC", validators=[valid_timezone])
    profile = models.CharField(max_length=60, blank=True, default="", db_default="")
    """The name of the context profile for requests that name none; empty for the default."""
    clearance = models.SmallIntegerField(
        choices=LEVEL_CHOICES, default=Sensitivity.INTERNAL, db_default=Sensitivity.INTERNAL
    )
    """The level up to which contexts and keys of the agent are told texts: see `teams.sensitivity`."""
    teams = models.ManyToManyField(Team, through="AgentTeam", related_name="agents")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        db_table = "agents"

    def __str__(self) -> str:
        return self.name

    @property
    def secret_handling(self) -> str:
        """This is the strictest handling of texts with secrets that the agent's teams have chosen."""
        return strictest(self.teams.values_list("secret_handling", flat=True))

    def today(self, now: datetime.datetime) -> datetime.date:
        """Return the date at `now` in the time zone of the agent."""
        return now.astimezone(ZoneInfo(self.timezone)).date()


class AgentTeam(models.Model):
    """The membership of an agent in a team."""

    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, related_name="team_links")
    team = models.ForeignKey(Team, models.DO_NOTHING, db_constraint=False, related_name="agent_links")

    class Meta:
        db_table = "agent_teams"
        constraints = [models.UniqueConstraint(fields=["agent", "team"], name="agent_team_once")]


class AgentFile(Sensitive, VersionedFile):
    """One of the three files of an agent: IDENTITY, INSTRUCTIONS or KNOWLEDGE. The seed calls the table
    `agent_md_files`.
    """

    class Key(models.TextChoices):
        IDENTITY = "IDENTITY", "Identity"
        INSTRUCTIONS = "INSTRUCTIONS", "Instructions"
        KNOWLEDGE = "KNOWLEDGE", "Knowledge"

    owner_columns: ClassVar = {"agent": "agent_id"}

    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, related_name="files")
    file_key = models.CharField(max_length=20, choices=Key.choices)

    class Meta:
        db_table = "agent_md_files"
        constraints = [
            models.UniqueConstraint(fields=["agent", "file_key"], name="agent_file_once"),
            models.CheckConstraint(
                condition=models.Q(file_key__in=["IDENTITY", "INSTRUCTIONS", "KNOWLEDGE"]),
                name="agent_file_key_known",
            ),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="agent_file_version_from_1"),
        ]

    @property
    def ref(self) -> str:
        return self.ref_of(self.id, self.version)

    @staticmethod
    def ref_of(file_id: UUID | str, version: int) -> str:
        """Return the ref of a version of a file."""
        return f"agent_file:{file_id}@{version}"


class AgentFileVersion(Sensitive, Version):
    """A version of an agent's file, which is never changed."""

    owner_columns: ClassVar = {"agent": "file__agent_id"}
    level_columns = OF_VERSION

    file = models.ForeignKey(AgentFile, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "agent_md_file_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="agent_file_version_once")]


class DailyLog(Sensitive, VersionedFile):
    """One Markdown page per agent and day; the day is the one of the agent's time zone."""

    owner_columns: ClassVar = {"agent": "agent_id"}

    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, related_name="daily_logs")
    date = models.DateField()

    class Meta:
        db_table = "daily_logs"
        constraints = [
            models.UniqueConstraint(fields=["agent", "date"], name="daily_log_once"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="daily_log_version_from_1"),
        ]
        indexes = [GinIndex(WORDS_OF_LOG, name="daily_log_words")]

    @property
    def about(self) -> str:
        """The ref of the agent's day, under which a log can be drafted before it exists."""
        return f"daily_log:{self.agent_id}/{self.date:%Y-%m-%d}"

    @property
    def ref(self) -> str:
        return self.ref_of(self.id, self.version)

    @staticmethod
    def ref_of(file_id: UUID | str, version: int) -> str:
        """Return the ref of a version of a log."""
        return f"daily_log:{file_id}@{version}"


class DailyLogVersion(Sensitive, Version):
    """A version of a daily log, which exists until the log is deleted."""

    owner_columns: ClassVar = {"agent": "file__agent_id"}
    level_columns = OF_VERSION

    file = models.ForeignKey(DailyLog, models.DO_NOTHING, db_constraint=False, related_name="versions")

    class Meta(Version.Meta):
        db_table = "daily_log_versions"
        constraints = [models.UniqueConstraint(fields=["file", "version"], name="daily_log_version_once")]


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def usable(self, now: datetime.datetime) -> "ApiKeyQuerySet":
        """Return the keys that are neither revoked nor expired at `now`."""
        return self.filter(models.Q(expires=None) | models.Q(expires__gt=now), revoked=None)


class ApiKey(models.Model):
    """A key of an agent; without an agent, an admin key. Only a keyed hash of the key is stored.

    `created_by` is the ref of the responsible person, empty if a command created the key: the creator, or the creator
    of the admin key with which it was created. `creator_name` is the creator's name. `last_used` is exact to five
    minutes.
    """

    class Scope(models.TextChoices):
        WRITE_FILES = EDIT_AGENT_FILES, "Write the agent's own files"
        WRITE_TEAM_FILES = EDIT_TEAM_FILES, "Write the files of the agent's teams"
        CONFIDENTIAL = READ_CONFIDENTIAL, "Read confidential texts, as far as the agent may"
        RESTRICTED = READ_RESTRICTED, "Read restricted texts, as far as the agent may"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    lookup = models.CharField(max_length=8, unique=True)
    hash = models.CharField(max_length=64)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, null=True, related_name="api_keys")
    name = models.CharField(max_length=120, blank=True, default="")
    scopes = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    created = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=80, blank=True, default="", db_default="")
    creator_name = models.CharField(max_length=200, blank=True, default="", db_default="")
    expires = models.DateTimeField(null=True)
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        db_table = "api_keys"

    def __str__(self) -> str:
        return self.name or self.lookup

    def is_usable(self, now: datetime.datetime) -> bool:
        """Return whether the key is valid at `now`."""
        return self.revoked is None and (self.expires is None or self.expires > now)


class KeyGrant(models.Model):
    """The access of an agent's key to one of the agent's teams.

    The grant belongs to the membership of the agent in the team: the database deletes it when the agent leaves the
    team, so a later return does not restore it.
    """

    key = models.ForeignKey(ApiKey, models.DO_NOTHING, db_constraint=False, related_name="grants", db_index=False)
    link = models.ForeignKey(AgentTeam, models.DO_NOTHING, db_constraint=False, related_name="key_grants")
    granted_by = models.CharField(max_length=80, blank=True, default="")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "api_key_grants"
        constraints = [models.UniqueConstraint(fields=["key", "link"], name="api_key_grant_once")]
