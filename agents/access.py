"""Who may do what with an agent."""

from agents.models import Agent, AgentTeam, ApiKey
from config.http.errors import Forbidden, NotFound
from teams.access import ROLES_FOR, Action
from teams.principal import Principal


def agent_for(principal: Principal, slug: str, action: Action = Action.READ) -> Agent:
    """The agent with that slug. Raises NotFound or Forbidden."""
    agent = Agent.objects.visible_to(principal).filter(slug=slug).first()
    if agent is None:
        raise NotFound(f"The agent “{slug}”")
    if not may(principal, agent, action):
        raise Forbidden("Your role does not allow this for this agent. Ask an admin of one of its teams.")
    return agent


def may(principal: Principal, agent: Agent, action: Action) -> bool:
    """Whether somebody who can see the agent may do this with it."""
    if principal.is_admin:
        return True
    if principal.kind == "person":
        return AgentTeam.objects.filter(
            agent=agent,
            team__memberships__user_id=principal.id,
            team__memberships__role__in=ROLES_FOR[action],
        ).exists()
    if principal.agent_id != agent.id:
        return False
    return action in {Action.READ, Action.WRITE} or (
        action is Action.EDIT and ApiKey.Scope.WRITE_FILES in principal.scopes
    )
