"""Events: what happened in an agent's sessions."""

from django.db import models

from memories.models.kept import Kept, newest_of_agent, once_per_agent
from memories.models.session import Session
from memories.models.task import TaskFrame


class EventType(models.TextChoices):
    """The types that have a format of their own; any other word is a type, too."""

    FILE_READ = "file_read"
    FILE_WRITE = "file_write"
    SHELL_EXEC = "shell_exec"
    ERROR = "error"
    MESSAGE = "message"
    TOOL_RESULT = "tool_result"


class Event(Kept):
    """A thing that happened. `content` is a JSON object; a tool result names its `tool` and has a `size`.

    `size` counts the characters of the content as compact JSON.
    """

    ref_kind = "event"

    session = models.ForeignKey(
        Session, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="events"
    )
    task = models.ForeignKey(
        TaskFrame, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="events"
    )
    type = models.CharField(max_length=40)
    content = models.JSONField()
    outcome = models.CharField(max_length=40, blank=True, default="")
    tool = models.CharField(max_length=120, blank=True, default="")
    size = models.PositiveIntegerField()
    occurred_at = models.DateTimeField()

    class Meta:
        db_table = "events"
        constraints = [once_per_agent("event")]
        indexes = [
            newest_of_agent("event"),
            models.Index(fields=["agent", "-occurred_at", "-id"], name="event_agent_recent"),
            models.Index(fields=["agent", "type", "-occurred_at", "-id"], name="event_agent_type_recent"),
            models.Index(fields=["session", "-occurred_at", "-id"], name="event_session_recent"),
            models.Index(fields=["task", "-occurred_at", "-id"], name="event_task_recent"),
        ]
