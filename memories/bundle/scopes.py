"""What can be exported: one team, one agent, or everything."""

from agents.models import Agent
from memories.bundle.rooms import Scope
from teams.access import require_admin
from teams.models import Team
from teams.principal import Principal


def scope_of_team(team: Team, principal: Principal) -> Scope:
    """A team, which the principal may read: its files and memories."""
    return Scope(name=f"team-{team.slug}", teams=[team], principal=principal)


def scope_of_agent(agent: Agent, principal: Principal) -> Scope:
    """An agent, which the principal may read: its files, logs and memories, and nothing of its teams but names."""
    return Scope(name=f"agent-{agent.slug}", agents=[agent], principal=principal)


def scope_of_everything(principal: Principal) -> Scope:
    """All teams and agents, and what is the organisation's own. Raises Forbidden for all but its admins."""
    require_admin(principal)
    return Scope(
        name="everything",
        teams=list(Team.objects.order_by("slug")),
        agents=list(Agent.objects.order_by("slug")),
        organisation=True,
        principal=principal,
    )
