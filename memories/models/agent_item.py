"""AgentItem is the base of all rows that belong to one agent; here are also its subclasses Pattern, Thread and Tool."""

from typing import ClassVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent
from memories.models.embedding import Embedded
from teams.sealing.fields import SealedJson, SealedText
from teams.sealing.names import SealedName
from teams.sensitivity import DEFAULT_LEVEL, Sensitive
from teams.versioned_text.versioned_file import Signed


class AgentItem(Sensitive, Signed):
    """The abstract base of a row that belongs to one agent, such as an event, an entity or a document.

    `version` counts the saved states of the row; `external_id` is the row's id in the system that it was imported from.
    The row is deleted by the database together with its agent.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    external_id = models.CharField(max_length=200, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    owner_columns: ClassVar = {"agent": "agent_id"}

    ref_kind: str
    """The prefix of the refs of this model, as "event" in event:<uuid>@1."""
    context_fields: ClassVar[frozenset[str]]
    """The fields whose values contexts include; a change of others, such as a weight, keeps the origin."""

    is_announced: ClassVar[bool] = False
    """Whether services announce saved rows: see `memories.services.announcements`. Documents are announced later."""

    class Meta:
        abstract = True

    @property
    def ref(self) -> str:
        """Return the ref that names this version of the item, as event:<uuid>@1."""
        return self.ref_of(self.id, self.version)

    @classmethod
    def ref_of(cls, id_: UUID, version: int) -> str:
        """Return the ref of the item of this model with this id, in this version."""
        return f"{cls.ref_kind}:{id_}@{version}"


def unique_external_id(name: str) -> models.UniqueConstraint:
    """Return the constraint that an external id, where a row has one, is unique per agent."""
    return models.UniqueConstraint(
        fields=["agent", "external_id"], condition=~models.Q(external_id=""), name=f"{name}_import_once"
    )


def newest_first_index(name: str) -> models.Index:
    """Return the index that lists an agent's rows newest first."""
    return models.Index(fields=["agent", "-created", "-id"], name=f"{name}_agent_newest")


def sealed_index(name: str) -> models.Index:
    """Return the index that tells whether an agent has rows above internal, whose names are sealed."""
    return models.Index(
        fields=["agent"], condition=models.Q(sensitivity__gt=DEFAULT_LEVEL), name=f"{name}_agent_sealed"
    )


class Pattern(AgentItem):
    """A pattern is guidance for an agent that applies when a query has one of its keywords, intents or entity types."""

    ref_kind = "pattern"
    context_fields = frozenset({"name", "guidance"})

    name = SealedName(max_length=200)
    keywords = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    intents = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    entity_types = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    guidance = SealedText()
    successes = models.PositiveIntegerField(default=0)
    applications = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "patterns"
        constraints = [
            unique_external_id("pattern"),
            models.UniqueConstraint(fields=["agent", "name"], name="pattern_once"),
            models.CheckConstraint(
                condition=models.Q(successes__lte=models.F("applications")), name="pattern_successes_within"
            ),
        ]
        indexes = [newest_first_index("pattern"), sealed_index("pattern")]

    def __str__(self) -> str:
        return str(self.name)

    @property
    def success_rate(self) -> float:
        """Return successes divided by applications; 0 for a pattern that was never applied."""
        return self.successes / self.applications if self.applications else 0.0


class ThreadStatus(models.TextChoices):
    """The status of a thread."""

    ACTIVE = "active", "Active"
    RESOLVED = "resolved", "Resolved"


class Thread(AgentItem):
    """A thread is a story that goes on over several sessions, with a status and a summary."""

    ref_kind = "thread"
    context_fields = frozenset({"title", "summary"})

    title = SealedText(max_length=200)
    status = models.CharField(max_length=10, choices=ThreadStatus.choices, default=ThreadStatus.ACTIVE)
    summary = SealedText(blank=True, default="")
    touched_at = models.DateTimeField()

    class Meta:
        db_table = "threads"
        constraints = [
            unique_external_id("thread"),
            models.CheckConstraint(condition=models.Q(status__in=ThreadStatus.values), name="thread_status_known"),
        ]
        indexes = [
            newest_first_index("thread"),
            models.Index(fields=["agent", "status", "-touched_at"], name="thread_agent_touched"),
        ]

    def __str__(self) -> str:
        return str(self.title)


class Tool(Embedded, AgentItem):
    """A tool that the agent can call: name, description and the JSON schema of its arguments (`schema`)."""

    ref_kind = "tool"
    context_fields = frozenset({"name", "description", "schema"})

    name = SealedName(max_length=120)
    description = SealedText(blank=True, default="")
    schema = SealedJson(default=dict, blank=True)

    class Meta:
        db_table = "tools"
        constraints = [unique_external_id("tool"), models.UniqueConstraint(fields=["agent", "name"], name="tool_once")]
        indexes = [newest_first_index("tool"), sealed_index("tool")]

    def __str__(self) -> str:
        return str(self.name)

    @property
    def said(self) -> str:
        """Return the text that the tool is embedded by: its name and description."""
        return f"{self.name}: {self.description}"
