"""Narrative threads: stories that go on over several sessions."""

from django.db import models

from memories.models.kept import Kept, newest_of_agent, once_per_agent


class ThreadStatus(models.TextChoices):
    """Of a thread."""

    ACTIVE = "active", "Active"
    RESOLVED = "resolved", "Resolved"


class Thread(Kept):
    """Something that is going on, and how it stands."""

    ref_kind = "thread"

    title = models.CharField(max_length=200)
    status = models.CharField(max_length=10, choices=ThreadStatus.choices, default=ThreadStatus.ACTIVE)
    summary = models.TextField(blank=True, default="")
    touched_at = models.DateTimeField()

    class Meta:
        db_table = "threads"
        constraints = [
            once_per_agent("thread"),
            models.CheckConstraint(condition=models.Q(status__in=ThreadStatus.values), name="thread_status_known"),
        ]
        indexes = [
            newest_of_agent("thread"),
            models.Index(fields=["agent", "status", "-touched_at"], name="thread_agent_touched"),
        ]

    def __str__(self) -> str:
        return self.title
