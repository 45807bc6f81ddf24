"""Who may do what with a proposal: see it, make one, decide on it, take it away."""

from uuid import UUID

from agents.access import may as may_with_agent
from agents.models import Agent
from assembly.models import Assembly, Proposal
from config.http.errors import Forbidden, NotFound
from teams.access import Action
from teams.access import may as may_in_team
from teams.models import Team
from teams.principal import Principal


def proposal_for(principal: Principal, id_: UUID) -> Proposal:
    """The proposal, if the principal may see the context that it is about. Raises NotFound."""
    found = Proposal.objects.visible_to(principal).filter(id=id_).first()
    if found is None:
        raise NotFound("This proposal")
    return found


def may_propose(principal: Principal, assembly: Assembly) -> bool:
    """Whether somebody who can see the context may keep a proposal on it: who may write for its agent."""
    if principal.is_admin:
        return True
    agent = Agent.objects.filter(id=assembly.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.WRITE)


def may_decide(principal: Principal, proposal: Proposal) -> bool:
    """Whether somebody who can see it may accept or dismiss it: the admins of its team, or of one of the agent's."""
    if principal.is_admin:
        return True
    if proposal.team_id:
        team = Team.objects.filter(id=proposal.team_id).first()
        return team is not None and may_in_team(principal, team, Action.MANAGE)
    agent = Agent.objects.filter(id=proposal.agent_id).first()
    return agent is not None and may_with_agent(principal, agent, Action.MANAGE)


def may_delete(principal: Principal, proposal: Proposal) -> bool:
    """Whether somebody who can see it may take it away: who made it, and who may decide on it."""
    return proposal.proposed_by == principal.ref or may_decide(principal, proposal)


def require_deletable(principal: Principal, proposal: Proposal) -> None:
    """Check that somebody may take it away. Raises Forbidden."""
    require(may_delete(principal, proposal), "Only who made a proposal, or an admin of the team, may delete it.")


def require(allowed: bool, detail: str) -> None:
    """Raises Forbidden, with what to do instead."""
    if not allowed:
        raise Forbidden(detail)
