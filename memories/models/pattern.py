"""Patterns: what has worked before, and when to think of it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memories.models.kept import Kept, newest_of_agent, once_per_agent


class Pattern(Kept):
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
            once_per_agent("pattern"),
            models.UniqueConstraint(fields=["agent", "name"], name="pattern_once"),
            models.CheckConstraint(
                condition=models.Q(successes__lte=models.F("applications")), name="pattern_successes_within"
            ),
        ]
        indexes = [newest_of_agent("pattern")]

    def __str__(self) -> str:
        return self.name

    @property
    def success_rate(self) -> float:
        """Successes by applications; 0 for a pattern never applied."""
        return self.successes / self.applications if self.applications else 0.0
