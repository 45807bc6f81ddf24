"""Tools: what an agent can call, as its model is told."""

from django.db import models
from pgvector.django import VectorField

from memories.embedding import DIMENSIONS
from memories.models.kept import Kept, newest_of_agent, once_per_agent


class Tool(Kept):
    """A tool by its name; `schema` is the JSON schema of its arguments."""

    ref_kind = "tool"

    name = models.CharField(max_length=120)
    description = models.TextField(blank=True, default="")
    schema = models.JSONField(default=dict, blank=True)
    embedding = VectorField(dimensions=DIMENSIONS, null=True)
    embedding_model = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        db_table = "tools"
        constraints = [once_per_agent("tool"), models.UniqueConstraint(fields=["agent", "name"], name="tool_once")]
        indexes = [newest_of_agent("tool")]

    def __str__(self) -> str:
        return self.name
