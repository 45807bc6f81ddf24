"""The contexts on record that are nearest to a moment: what the agent was told, beside what it would have been."""

import datetime
from dataclasses import dataclass

from agents.models import Agent
from assembly.models import Assembly
from teams.models import Team
from teams.principal import Principal

COLUMNS = ("id", "created", "agent_name", "team_name", "topic", "profile_name", "tokens", "budget")


@dataclass(frozen=True, slots=True)
class Near:
    """The last context up to the moment, and the first one after it. None: there is none that one may read."""

    before: Assembly | None
    after: Assembly | None


def contexts_near(*, agent: Agent, team: Team | None, moment: datetime.datetime, principal: Principal) -> Near:
    """Of the agent in that team; without a team, in any and in none."""
    contexts = Assembly.objects.visible_to(principal).filter(agent_id=agent.id).only(*COLUMNS)
    if team:
        contexts = contexts.filter(team_id=team.id)
    return Near(
        before=contexts.filter(created__lte=moment).order_by("-created", "-id").first(),
        after=contexts.filter(created__gt=moment).order_by("created", "id").first(),
    )
