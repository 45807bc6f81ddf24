"""What all the things that an agent keeps have in common.

Patterns: what has worked before, and when to think of it.

Narrative threads: stories that go on over several sessions.

Tools: what an agent can call, as its model is told.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from agents.models import Agent
from memories.models.embedding import Embedded
from teams.versioned_text.versioned_file import Signed


class AgentItem(Signed):
    """A thing of one agent. `version` counts its saved states; `external_id` is its id where it comes from.

    The database deletes it along with its agent.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    external_id = models.CharField(max_length=200, blank=True, default="")
    version = models.PositiveIntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    ref_kind: str
    """What its refs begin with."""

    class Meta:
        abstract = True

    @property
    def ref(self) -> str:
        """Names this state of it: event:<uuid>@1."""
        return f"{self.ref_kind}:{self.id}@{self.version}"


def unique_external_id(name: str) -> models.UniqueConstraint:
    """An external id stands for one row of an agent."""
    return models.UniqueConstraint(
        fields=["agent", "external_id"], condition=~models.Q(external_id=""), name=f"{name}_import_once"
    )


def newest_first_index(name: str) -> models.Index:
    """The order of lists: newest first."""
    return models.Index(fields=["agent", "-created", "-id"], name=f"{name}_agent_newest")


class Pattern(AgentItem):
    """Guidance that applies when a query has one of its keywords, intents or entity types."""

    ref_kind = "pattern"

    name = models.CharField(max_length=200)
    keywords = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    intents = ArrayField(models.CharField(max_length=20), default=list, blank=True)
    entity_types = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    guidance = models.TextField()
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
        indexes = [newest_first_index("pattern")]

    def __str__(self) -> str:
        return self.name

    @property
    def success_rate(self) -> float:
        """Successes by applications; 0 for a pattern never applied."""
        return self.successes / self.applications if self.applications else 0.0


class ThreadStatus(models.TextChoices):
    """Of a thread."""

    ACTIVE = "active", "Active"
    RESOLVED = "resolved", "Resolved"


class Thread(AgentItem):
    """Something that is going on, and how it stands."""

    ref_kind = "thread"

    title = models.CharField(max_length=200)
    status = models.CharField(max_length=10, choices=ThreadStatus.choices, default=ThreadStatus.ACTIVE)
    summary = models.TextField(blank=True, default="")
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
        return self.title


class Tool(Embedded, AgentItem):
    """A tool by its name; `schema` is the JSON schema of its arguments."""

    ref_kind = "tool"

    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, default="")
    schema = models.JSONField(default=dict, blank=True)

    class Meta:
        db_table = "tools"
        constraints = [unique_external_id("tool"), models.UniqueConstraint(fields=["agent", "name"], name="tool_once")]
        indexes = [newest_first_index("tool")]

    def __str__(self) -> str:
        return self.name

    @property
    def said(self) -> str:
        """Its name and what it does."""
        return f"{self.name}: {self.description}"
