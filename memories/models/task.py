"""Task frames: what an agent is working on, as a tree of goals."""

from django.db import models

from memories.models.kept import Kept, newest_of_agent, once_per_agent
from memories.models.session import Session


class TaskStatus(models.TextChoices):
    """Of a task frame."""

    ACTIVE = "active", "Active"
    COMPLETE = "complete", "Complete"
    BLOCKED = "blocked", "Blocked"


class TaskFrame(Kept):
    """A goal on a task stack: that of a session, or, without one, the agent's own.

    A root has depth 0; `result` sums the frame up once it is popped.
    """

    ref_kind = "task"

    parent = models.ForeignKey(
        "self", models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="children"
    )
    session = models.ForeignKey(
        Session, models.DO_NOTHING, db_constraint=False, null=True, db_index=False, related_name="tasks"
    )
    goal = models.TextField()
    status = models.CharField(max_length=10, choices=TaskStatus.choices, default=TaskStatus.ACTIVE)
    result = models.TextField(blank=True, default="")
    depth = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "task_frames"
        constraints = [
            once_per_agent("task"),
            models.CheckConstraint(condition=models.Q(status__in=TaskStatus.values), name="task_status_known"),
            models.CheckConstraint(condition=~models.Q(parent=models.F("id")), name="task_not_its_own_parent"),
        ]
        indexes = [
            newest_of_agent("task"),
            models.Index(fields=["parent"], name="task_parent"),
            models.Index(fields=["session", "status", "-depth", "-created"], name="task_session_current"),
            models.Index(fields=["agent", "status", "-depth", "-created"], name="task_agent_current"),
        ]
