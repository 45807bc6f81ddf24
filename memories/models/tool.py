"""Tools: what an agent can call, as its model is told."""

from django.db import models

from memories.models.directed import Directed
from memories.models.kept import Kept, newest_of_agent, once_per_agent


class Tool(Directed, Kept):
    """A tool by its name; `schema` is the JSON schema of its arguments."""

    ref_kind = "tool"

    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, default="")
    schema = models.JSONField(default=dict, blank=True)

    class Meta:
        db_table = "tools"
        constraints = [once_per_agent("tool"), models.UniqueConstraint(fields=["agent", "name"], name="tool_once")]
        indexes = [newest_of_agent("tool")]

    def __str__(self) -> str:
        return self.name

    @property
    def said(self) -> str:
        """Its name and what it does."""
        return f"{self.name}: {self.description}"
