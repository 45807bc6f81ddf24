"""Sessions: the runs of an agent."""

from django.db import models

from memories.models.kept import Kept, newest_of_agent, once_per_agent


class Session(Kept):
    """One run of an agent: a conversation, a job. `external_id` is the caller's own id of it."""

    ref_kind = "session"

    title = models.CharField(max_length=200, blank=True, default="")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "sessions"
        constraints = [once_per_agent("session")]
        indexes = [
            newest_of_agent("session"),
            models.Index(fields=["agent", "-started_at", "-id"], name="session_agent_started"),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id or f"{self.started_at:%Y-%m-%d %H:%M}"
