"""Who may do what with an agent."""

from django.db import connection

from agents.models import Agent, AgentTeam, ApiKey
from config.http.errors import Forbidden, NotFound
from config.http.statements import Statement, rows_of
from teams.access import ROLES_FOR, Action
from teams.models import Membership
from teams.principal import Principal

# In SQL, as keys are found: nearly every request of a key asks for its agent.
COLUMNS = [field.attname for field in Agent._meta.concrete_fields]  # noqa: SLF001 - Django's documented introspection
NAMED = f"SELECT {', '.join(COLUMNS)} FROM agents WHERE slug = %(slug)s"  # noqa: S608 - names of columns alone


def agent_for(principal: Principal, slug: str, action: Action = Action.READ) -> Agent:
    """The agent with that slug. Raises NotFound or Forbidden."""
    agent = _visible(principal, slug)
    if agent is None:
        raise NotFound(f"The agent “{slug}”")
    if not may(principal, agent, action):
        raise Forbidden("Your role does not allow this for this agent. Ask an admin of one of its teams.")
    return agent


def _visible(principal: Principal, slug: str) -> Agent | None:
    """The agent with that slug, if it is among those that `visible_to` gives."""
    if principal.kind == "person" and not principal.is_admin:
        return Agent.objects.visible_to(principal).filter(slug=slug).first()
    agent = _named(slug)
    return agent if agent and (principal.is_admin or agent.id == principal.agent_id) else None


def _named(slug: str) -> Agent | None:
    rows = rows_of(Statement(NAMED, {"slug": slug}))
    return Agent.from_db(connection.alias, COLUMNS, rows[0]) if rows else None


def may_manage_keys(principal: Principal, agent: Agent) -> bool:
    """Whether somebody may make and revoke the agent's keys: a key reads all that the agent reads, so this takes an
    admin of every one of its teams."""
    if principal.is_admin:
        return True
    own = Membership.objects.filter(user_id=principal.id, role__in=ROLES_FOR[Action.MANAGE]).values("team_id")
    links = AgentTeam.objects.filter(agent=agent)
    return principal.kind == "person" and links.exists() and not links.exclude(team_id__in=own).exists()


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
