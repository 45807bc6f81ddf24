"""This module checks access to agents, and checks again that a requester may still see a stored copy of texts.

A prepared list of contexts and the plan of an import contain texts of agents and teams for a day. Roles may change in
the meantime: the copy is only shown while its requester still sees every agent and team that they saw when it was
created, up to the level that they could read then. When a text is raised, all copies are checked anew
(`assembly.records.stored_copies`).
"""

from typing import Any

from django.db.models import QuerySet

from agents.models import Agent, AgentTeam
from config.db.statements import find_rows
from config.http.errors import Forbidden, NotFound
from teams.models import Membership, Team
from teams.principal import EDIT_AGENT_FILES, Action, Principal, Role, key_permits
from teams.sensitivity import CLEARANCE_OF_ROLE, fixed_clearances

EVERYTHING = {"everything": True}


def visibility_of(principal: Principal) -> dict[str, Any]:
    """Return the ids of the agents and teams that the principal sees now, and the levels up to which it reads them, as
    JSON to be stored with the copy.
    """
    if principal.is_admin:
        return dict(EVERYTHING)
    return {
        "agents": [str(id_) for id_ in Agent.objects.visible_to(principal).order_by("id").values_list("id", flat=True)],
        "teams": [str(id_) for id_ in Team.objects.visible_to(principal).order_by("id").values_list("id", flat=True)],
        "levels": _levels_of(principal),
    }


def _levels_of(principal: Principal) -> dict[str, int]:
    """Return the level up to which the principal reads, by the team whose role decides; of a key, one under its agent.

    Of a person, the roles in an agent's teams decide for the agent, too.
    """
    fixed = fixed_clearances(principal)
    if fixed is not None:
        return {str(principal.agent_id): fixed.agent}
    roles = Membership.objects.filter(user_id=principal.id).values_list("team_id", "role")
    return {str(team): int(CLEARANCE_OF_ROLE[Role(role)]) for team, role in roles}


def still_sees(principal: Principal, visibility: dict[str, Any]) -> bool:
    """Whether the principal sees at least what the stored visibility names, up to the same levels.

    A copy without one, or from before levels were stored, is for admins of the organisation alone.
    """
    if principal.is_admin:
        return True
    if "levels" not in visibility:
        return False
    now = visibility_of(principal)
    levels = now["levels"]
    return all(set(visibility[kind]) <= set(now[kind]) for kind in ("agents", "teams")) and all(
        level <= levels.get(owner, -1) for owner, level in visibility["levels"].items()
    )


def agent_for(principal: Principal, slug: str, action: Action = Action.READ) -> Agent:
    """Return the agent with this slug. Raises NotFound or Forbidden."""
    agent = _find_visible(principal, slug)
    if agent is None:
        raise NotFound(f"The agent “{slug}”")
    if not is_permitted(principal, agent, action):
        raise Forbidden("Your role does not allow this for this agent. Ask an admin of one of its teams.")
    return agent


def own_agent(principal: Principal) -> Agent | None:
    """Return the agent that the principal's key speaks for; None for everybody else."""
    found = find_rows(Agent, "WHERE id = %(id)s", {"id": principal.agent_id}) if principal.agent_id else []
    return found[0] if found else None


def _find_visible(principal: Principal, slug: str) -> Agent | None:
    """Return the agent with this slug, if the principal sees it."""
    if principal.kind == "person" and not principal.is_admin:
        return Agent.objects.visible_to(principal).filter(slug=slug).first()
    found = find_rows(Agent, "WHERE slug = %(slug)s", {"slug": slug})
    return found[0] if found and (principal.is_admin or found[0].id == principal.agent_id) else None


def manages_all_teams(principal: Principal, agent: Agent) -> bool:
    """Return whether the principal administers every team of the agent, which has at least one.

    This right is required for keys, because a key reads all that the agent reads, and for deletion, because it removes
    the agent from every team.
    """
    if principal.is_admin:
        return True
    works = AgentTeam.objects.filter(agent=agent).exists()
    return works and not unmanaged_teams(principal, agent).exists()


def unmanaged_teams(principal: Principal, agent: Agent) -> QuerySet[Team]:
    """Return the teams of the agent that the principal does not administer."""
    managed = Team.objects.manageable_by(principal).values("id")
    return Team.objects.filter(agent_links__agent=agent).exclude(id__in=managed)


def require_manager_of_all_teams(principal: Principal, agent: Agent) -> None:
    """Check that the principal administers all teams of the agent.

    Raises Forbidden, which names the other teams as far as the principal sees them.
    """
    if manages_all_teams(principal, agent):
        return
    visible = unmanaged_teams(principal, agent).filter(id__in=Team.objects.visible_to(principal).values("id"))
    names = ", ".join(visible.order_by("name").values_list("name", flat=True)) or "other teams"
    raise Forbidden(
        f"It also works in {names}. Only an admin of all its teams, or of the organisation, may do this. "
        "You can take the agent out of your own teams in its settings."
    )


def is_permitted(principal: Principal, agent: Agent, action: Action) -> bool:
    """Return whether a principal who can see the agent may perform the action on it."""
    if principal.is_admin:
        return True
    if principal.kind == "person":
        return Agent.objects.permitting(action, principal).filter(id=agent.id).exists()
    # No query for keys: nearly every request of theirs asks this.
    return principal.agent_id == agent.id and key_permits(principal, action, EDIT_AGENT_FILES)
