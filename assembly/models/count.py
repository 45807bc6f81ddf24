"""What was counted of the contexts: sums that stay when retention takes the contexts themselves."""

from uuid import UUID

from django.db import models

from agents.models import Agent
from teams.database import ORGANISATION
from teams.models import Team
from teams.principal import Principal


class DayCountQuerySet(models.QuerySet["DayCount"]):
    def seen_by(
        self, principal: Principal, *, agent_id: UUID | None = None, team_id: UUID | None = None
    ) -> "DayCountQuerySet":
        """Those of contexts that the principal may read, whose agent *and* team it sees: of all of these, or of one
        agent, of one team, or of both together.

        Who sees everything and asks for all gets the sums of the organisation: one row for a day.
        """
        if principal.is_admin and not agent_id and not team_id:
            return self.filter(agent_id=ORGANISATION)
        rows = self.filter(agent_id=agent_id) if agent_id else self
        rows = rows.filter(team_id=team_id) if team_id else rows
        if principal.is_admin:
            return rows
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return rows.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)


class DayCount(models.Model):
    """The contexts of one agent in one team, or in none, that were made on one day by UTC. The agent ORGANISATION has
    those of all agents and teams together.

    Whole numbers: tokens, milliseconds, items. The maps are JSON objects of such numbers: tokens by layer, contexts in
    which a file was cut by what its ref names, items left out by reason, contexts without a source that was late or
    failed by its name, contexts by warning, and contexts by how long they took (`assembly/trends/durations.py`).
    """

    day = models.DateField()
    agent_id = models.UUIDField()
    team_id = models.UUIDField(null=True)
    contexts = models.BigIntegerField()
    repeats = models.BigIntegerField()
    tokens = models.BigIntegerField()
    budget = models.BigIntegerField()
    assembly_ms = models.BigIntegerField()
    considered = models.BigIntegerField()
    layers = models.JSONField()
    cut = models.JSONField()
    left_out = models.JSONField()
    late = models.JSONField()
    failed = models.JSONField()
    warnings = models.JSONField()
    durations = models.JSONField()

    objects = DayCountQuerySet.as_manager()

    class Meta:
        db_table = "context_counts"
        constraints = [
            models.UniqueConstraint(
                fields=["day", "agent_id", "team_id"], nulls_distinct=False, name="context_count_once"
            )
        ]
        indexes = [
            models.Index(fields=["agent_id", "day"], name="context_count_agent"),
            models.Index(fields=["team_id", "day"], name="context_count_team"),
        ]


class MemoryTelling(models.Model):
    """The last day, by UTC, on which a memory was in a context. One that was never told has no row."""

    memory_id = models.UUIDField(primary_key=True)
    told_on = models.DateField()

    class Meta:
        db_table = "memory_tellings"
