"""Services of proposals. To accept one changes nothing else: what it proposes is published by hand."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.access import is_permitted as may_with_agent
from agents.models import Agent
from assembly.engine.types import field_values
from assembly.models import Assembly, Proposal
from assembly.records.record import RecordOwners
from assembly.simulation.simulate import Overrides
from assembly.simulation.what_if.services import WhatIfResult, run_what_if
from config.http.errors import Conflict, Forbidden, NotFound
from teams.access import is_permitted as may_in_team
from teams.models import Team
from teams.principal import Action, Principal
from teams.versioned_text.versioned_file import lock_row


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
    require_allowed(
        may_delete(principal, proposal), "Only who made a proposal, or an admin of the team, may delete it."
    )


def require_allowed(allowed: bool, detail: str) -> None:
    """Raises Forbidden, with what to do instead."""
    if not allowed:
        raise Forbidden(detail)


MAX_OPEN = 500
"""Of one agent."""


def proposal_create(
    *, assembly: Assembly, wishes: Overrides, note: str = "", principal: Principal
) -> tuple[Proposal, WhatIfResult]:
    """Keep what the wishes would change in a recorded context, and what that is today.

    Raises Forbidden, Conflict where too many are open, and what `run_what_if` raises.
    """
    require_allowed(
        may_propose(principal, assembly), "Your role does not allow proposals for this agent. Ask an editor."
    )
    if Proposal.objects.filter(agent_id=assembly.agent_id, status=Proposal.Status.OPEN).count() >= MAX_OPEN:
        raise Conflict(f"{MAX_OPEN} proposals on this agent are open. Decide on some of them first.")
    found = run_what_if(assembly=assembly, overrides=wishes)
    comparison = found.beside.comparison
    proposal = Proposal.objects.create(
        **field_values(RecordOwners.recorded(assembly)),
        assembly_id=assembly.id,
        wishes=wishes.to_dict(),
        note=note,
        basis=found.basis,
        tokens_before=comparison.tokens_before,
        tokens_after=comparison.tokens_after,
        came_in=len(comparison.newly_in),
        went=len(comparison.pushed_out),
        proposed_by=principal.ref,
        proposer_name=principal.name,
    )
    return proposal, found


@transaction.atomic
def proposal_decide(*, proposal: Proposal, status: str, principal: Principal) -> Proposal:
    """Accept or dismiss an open proposal. Raises Forbidden, NotFound, and Conflict where somebody decided already."""
    require_allowed(
        may_decide(principal, proposal), "Only an admin of the team may decide on a proposal. Ask one of them."
    )
    current = lock_row(proposal)
    if not current.is_open:
        raise Conflict(f"{current.decider_name or 'Somebody'} decided already: it is {current.status}.")
    current.status, current.decided = status, timezone.now()
    current.decided_by, current.decider_name = principal.ref, principal.name
    current.save(force_update=True)
    return current


def proposal_delete(*, proposal: Proposal, principal: Principal) -> None:
    """Take a proposal away. Raises Forbidden."""
    require_deletable(principal, proposal)
    proposal.delete()


def proposal_rerun(proposal: Proposal) -> WhatIfResult | None:
    """What the proposal would change by now; None where its context is no longer kept. Raises what `run_what_if`
    does.
    """
    assembly = Assembly.objects.filter(id=proposal.assembly_id).first()
    return run_what_if(assembly=assembly, overrides=Overrides.from_dict(proposal.wishes)) if assembly else None
