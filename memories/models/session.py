"""These models store the runs of an agent (sessions), its tree of goals (task frames) and what happened (events)."""

from django.db import models

from memories.lifecycle.tiered_text import TieredJson
from memories.lifecycle.tiers import Tiered
from memories.models.agent_item import AgentItem, newest_first_index, sealed_index, unique_external_id
from teams.origin import Origin, least_trusted
from teams.principal import Author
from teams.sealing.fields import SealedText
from teams.sealing.names import SealedName


class Session(AgentItem):
    """A session is one run of an agent, such as a conversation or a job. `external_id` is the caller's own id of it."""

    ref_kind = "session"
    context_fields = frozenset({"title"})

    external_id = SealedName(max_length=200, blank=True, default="")
    title = SealedText(max_length=200, blank=True, default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "sessions"
        constraints = [unique_external_id("session")]
        indexes = [
            newest_first_index("session"),
            sealed_index("session"),
            models.Index(fields=["agent", "-started_at", "-id"], name="session_agent_started"),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id or f"{self.started_at:%Y-%m-%d %H:%M}"


class TaskStatus(models.TextChoices):
    """The status of a task frame."""

    ACTIVE = "active", "Active"
    COMPLETE = "complete", "Complete"
    BLOCKED = "blocked", "Blocked"


class TaskFrame(AgentItem):
    """A task frame is a goal on a task stack: the stack of a session or, where `session` is NULL, of the agent itself.

    A root has depth 0. `result` sums up what came of the goal once the frame is popped.
    """

    ref_kind = "task"
    context_fields = frozenset({"goal", "result"})

    parent = models.ForeignKey(
        "self", models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="children"
    )
    session = models.ForeignKey(
        Session, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="tasks"
    )
    goal = SealedText()
    status = models.CharField(max_length=10, choices=TaskStatus.choices, default=TaskStatus.ACTIVE)
    result = SealedText(blank=True, default="")
    depth = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "task_frames"
        constraints = [
            unique_external_id("task"),
            models.CheckConstraint(condition=models.Q(status__in=TaskStatus.values), name="task_status_known"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="task_not_its_own_parent"),
        ]
        indexes = [
            newest_first_index("task"),
            models.Index(fields=["parent"], name="task_parent"),
            models.Index(fields=["session", "status", "-depth", "-created"], name="task_session_current"),
            models.Index(fields=["agent", "status", "-depth", "-created"], name="task_agent_current"),
        ]


class EventType(models.TextChoices):
    """The event types that contexts format in a special way; any other word is a valid type, too."""

    FILE_READ = "file_read"
    FILE_WRITE = "file_write"
    SHELL_EXEC = "shell_exec"
    ERROR = "error"
    MESSAGE = "message"
    TOOL_RESULT = "tool_result"


TOOL_EVENT_TYPES = frozenset(EventType.values) - {EventType.MESSAGE}
"""The types of events whose content is the output of a tool, or what a tool was given."""


class Event(Tiered, AgentItem):
    """An event is something that happened to an agent. `content` is a JSON object; a tool result also names its `tool`.

    An event that records a tool has the tool's origin, whoever recorded it.

    `size` is the number of characters of the content as compact JSON.
    """

    ref_kind = "event"
    context_fields = frozenset({"content", "outcome", "tool"})

    session = models.ForeignKey(
        Session, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="events"
    )
    task = models.ForeignKey(
        TaskFrame, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="events"
    )
    type = models.CharField(max_length=40)
    content = TieredJson()
    outcome = models.CharField(max_length=40, blank=True, default="")
    tool = models.CharField(max_length=120, blank=True, default="")
    size = models.PositiveIntegerField()
    occurred_at = models.DateTimeField()

    class Meta:
        db_table = "events"
        constraints = [unique_external_id("event")]
        indexes = [
            newest_first_index("event"),
            models.Index(fields=["agent", "-occurred_at", "-id"], name="event_agent_recent"),
            models.Index(fields=["agent", "type", "-occurred_at", "-id"], name="event_agent_type_recent"),
            models.Index(fields=["session", "-occurred_at", "-id"], name="event_session_recent"),
            models.Index(fields=["task", "-occurred_at", "-id"], name="event_task_recent"),
        ]

    def signed_by(self, author: Author, *, rewritten: bool = True) -> None:
        """Set the author of the event. Its origin is the tool that it records, or else the author; as its content
        cannot be corrected, it is never trusted more than before.
        """
        recorded = Origin.TOOL if self.type in TOOL_EVENT_TYPES else self.origin
        super().signed_by(author, rewritten=rewritten)
        self.origin = least_trusted(self.origin, recorded)
