"""What is on record of an agent in a team, by value: who may see it."""

from typing import Self, TypeVar

from django.db import models

from agents.models import Agent
from teams.models import Team
from teams.principal import Principal

Row = TypeVar("Row", bound=models.Model)


class SeenQuerySet(models.QuerySet[Row]):
    """Rows with the columns `agent_id` and `team_id`, None for no team."""

    def visible_to(self, principal: Principal) -> Self:
        """Those whose agent *and* team the principal may read; once one of them is gone, admins alone."""
        if principal.is_admin:
            return self
        agents = Agent.objects.visible_to(principal).values("id")
        teams = Team.objects.visible_to(principal).values("id")
        return self.filter(models.Q(team_id__in=teams) | models.Q(team_id=None), agent_id__in=agents)
